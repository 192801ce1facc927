package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is a client with a server of its own: the process `forgeplan serve`.
type agent struct {
	server  *exec.Cmd
	session *sdk.ClientSession
}

// command is the program in the folder of the story, without settings of
// whoever runs it.
func (s *story) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.bin, args...)
	cmd.Dir = s.folder
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "FORGEPLAN_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

func (s *story) connect(ctx context.Context) (*agent, error) {
	cmd := s.command("serve")
	client := sdk.NewClient(&sdk.Implementation{Name: "demo-agent", Version: "1.0"}, nil)
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	return &agent{server: cmd, session: session}, nil
}

// call asks for one tool. The answer is the JSON object of the text block. An
// error means that there was no answer.
func (a *agent) call(ctx context.Context, tool string, args any) (answer map[string]json.RawMessage, err error) {
	res, err := a.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, err
	}
	if len(res.Content) != 1 {
		return nil, fmt.Errorf("%s: %d blocks in the answer", tool, len(res.Content))
	}
	text, ok := res.Content[0].(*sdk.TextContent)
	if !ok {
		return nil, fmt.Errorf("%s: the answer is no text", tool)
	}
	if err := json.Unmarshal([]byte(text.Text), &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	if res.IsError {
		return answer, fmt.Errorf("%s: %s", tool, answer["error"])
	}
	return answer, nil
}

// errTooLate: the answer was there before the server could be killed.
var errTooLate = errors.New("the call was answered before the kill")

// killDuring sends a call and kills the server while the call runs: the lock
// file names a new holder as soon as it does. errTooLate if the answer came all
// the same.
func (s *story) killDuring(ctx context.Context, a *agent, tool string, args any) error {
	lock := filepath.Join(s.folder, ".forgeplan", "lock")
	before, err := os.ReadFile(lock)
	if err != nil {
		return fmt.Errorf("read the lock: %w", err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := a.call(ctx, tool, args)
		answered <- err
	}()
	for {
		if now, err := os.ReadFile(lock); err == nil && len(now) > 0 && !bytes.Equal(now, before) {
			break
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wait for the call to begin: %w", err)
		}
		time.Sleep(50 * time.Microsecond)
	}
	time.Sleep(s.after)
	if err := a.server.Process.Kill(); err != nil {
		return fmt.Errorf("kill the server: %w", err)
	}
	if err := <-answered; err == nil {
		return errTooLate
	}
	a.session.Close() // the process is gone, and says so: no news
	return ctx.Err()
}
