package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Config holds the settings of .forgeplan/config.yaml. Keys that this program
// does not know are left alone.
type Config struct {
	Version   int           // 1
	Project   string        // project_name
	LockWait  time.Duration // lock_wait, default 5s
	MaxTitle  int           // limits.title, characters, default 500
	MaxBody   int64         // limits.body, bytes, default 8 MiB
	Retention string        // retention.calls, "forever"
}

const configName = "config.yaml"

// ConfigError names the key and line of a setting that cannot be used.
type ConfigError struct {
	Key  string
	Line int // in the file; 0 for a variable of the environment
	Msg  string
}

func (e *ConfigError) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("`%s` %s", e.Key, e.Msg)
	case e.Key == "":
		return fmt.Sprintf("%s/%s:%d: %s", Folder, configName, e.Line, e.Msg)
	}
	return fmt.Sprintf("%s/%s:%d: `%s` %s", Folder, configName, e.Line, e.Key, e.Msg)
}

func defaultConfig() Config {
	return Config{Version: 1, LockWait: 5 * time.Second, MaxTitle: 500, MaxBody: 8 << 20, Retention: "forever"}
}

// readConfig reads the file, then lets FORGEPLAN_LOCK_WAIT stand above it.
func readConfig(root *os.Root) (Config, error) {
	c := defaultConfig()
	f, err := root.Open(configName)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return c, fmt.Errorf("read %s: %w", configName, err)
	default:
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, 1<<20))
		if err != nil {
			return c, fmt.Errorf("read %s: %w", configName, err)
		}
		if err := c.parse(data); err != nil {
			return c, err
		}
	}
	if v := os.Getenv("FORGEPLAN_LOCK_WAIT"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return c, &ConfigError{Key: "FORGEPLAN_LOCK_WAIT", Msg: "must be a duration such as 5s"}
		}
		c.LockWait = d
	}
	return c, nil
}

func (c *Config) parse(data []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		line := 1
		msg := strings.TrimPrefix(err.Error(), "yaml: ")
		if n, rest, ok := strings.Cut(strings.TrimPrefix(msg, "line "), ": "); ok {
			if l, err := strconv.Atoi(n); err == nil {
				line, msg = l, rest
			}
		}
		return &ConfigError{Line: line, Msg: "is not valid YAML: " + msg}
	}
	if len(doc.Content) == 0 {
		return nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return &ConfigError{Line: top.Line, Msg: "must hold keys and values"}
	}
	return c.mapping("", top)
}

func (c *Config) mapping(prefix string, m *yaml.Node) error {
	first := map[string]int{} // key: line
	for i := 0; i+1 < len(m.Content); i += 2 {
		name, val := m.Content[i], m.Content[i+1]
		key := prefix + name.Value
		if line, ok := first[key]; ok {
			return &ConfigError{Key: key, Line: name.Line, Msg: fmt.Sprintf("stands in line %d already", line)}
		}
		first[key] = name.Line
		if val.Kind == yaml.AliasNode {
			val = val.Alias
		}
		if err := c.set(key, val); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) set(key string, val *yaml.Node) error {
	bad := func(msg string) error { return &ConfigError{Key: key, Line: val.Line, Msg: msg} }
	switch key {
	case "limits", "retention":
		if val.Kind == yaml.MappingNode {
			return c.mapping(key+".", val)
		}
		if val.Tag != "!!null" {
			return bad("must hold keys and values")
		}
		return nil
	case "version", "project_name", "lock_wait", "limits.title", "limits.body", "retention.calls":
		if val.Kind != yaml.ScalarNode {
			return bad("must be one value")
		}
	}
	switch key {
	case "version":
		n, err := strconv.Atoi(val.Value)
		if err != nil || n < 1 {
			return bad("must be 1")
		}
		if n > 1 {
			return fmt.Errorf("%w: %s says version %d", ErrNewer, configName, n)
		}
		c.Version = n
	case "project_name":
		c.Project = val.Value
	case "lock_wait":
		d, err := time.ParseDuration(val.Value)
		if err != nil || d <= 0 || d > time.Hour {
			return bad("must be a duration such as 5s, at most 1h")
		}
		c.LockWait = d
	case "limits.title":
		n, err := strconv.Atoi(val.Value)
		if err != nil || n < 1 || n > 500 {
			return bad("must be a number of characters from 1 to 500")
		}
		c.MaxTitle = n
	case "limits.body":
		n, err := parseSize(val.Value)
		if err != nil || n < 1024 || n > 8<<20 {
			return bad("must be a size from 1KiB to 8MiB")
		}
		c.MaxBody = n
	case "retention.calls":
		if val.Value != "forever" {
			return bad("must be `forever`")
		}
	}
	return nil
}

// parseSize reads 8388608, 512KiB or 8MiB.
func parseSize(s string) (int64, error) {
	unit := int64(1)
	for suffix, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, n
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32) // a larger one, times its unit, may overflow
	return n * unit, err
}
