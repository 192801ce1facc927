// Package eventtest checks that payloads keep the bytes they were shipped with.
// Only tests import it.
package eventtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"forgeplan/internal/event"
)

var update = flag.Bool("update", false, "create golden files that are missing; none is ever rewritten")

// Golden compares each kind with the files of dir, for each version a
// <name>.vN.json (the payload) and <name>.vN.bin (its bytes). With -update,
// missing files of the newest version are made from its sample, which must have
// something in every field. Once committed they stay as they are: they stand
// for all the journals out there.
func Golden(t *testing.T, dir string, kinds []event.Kind, samples ...event.Payload) {
	t.Helper()
	catalog, err := event.NewCatalog(kinds)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]event.Payload{}
	for _, s := range samples {
		byName[s.EventName()] = s
	}
	for _, k := range kinds {
		for v := 1; v <= k.Version; v++ {
			base := filepath.Join(dir, fmt.Sprintf("%s.v%d", k.Name, v))
			t.Run(filepath.Base(base), func(t *testing.T) {
				if sample := byName[k.Name]; *update && v == k.Version && sample != nil {
					create(t, catalog, base, sample)
				}
				check(t, catalog, k, v, base)
			})
		}
	}
}

func check(t *testing.T, c *event.Catalog, k event.Kind, version int, base string) {
	want, err := os.ReadFile(base + ".bin")
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Decode(k.Name, version, want)
	if err != nil {
		t.Fatal(err)
	}
	if version < k.Version {
		return // lifted: what to is tested beside the lift
	}
	text, err := os.ReadFile(base + ".json")
	if err != nil {
		t.Fatal(err)
	}
	told := reflect.New(reflect.TypeOf(got))
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(told.Interface()); err != nil {
		t.Fatal(err)
	}
	payload := told.Elem().Interface().(event.Payload)
	if !reflect.DeepEqual(got, payload) {
		t.Errorf("decoded\n%+v\nwant\n%+v", got, payload)
	}
	data, err := c.Encode(payload)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("encoded\n%x\nwant\n%x", data, want)
	}
}

func create(t *testing.T, c *event.Catalog, base string, sample event.Payload) {
	if name := firstZero(reflect.ValueOf(sample), sample.EventName()); name != "" {
		t.Fatalf("sample says nothing in %s", name)
	}
	data, err := c.Encode(sample)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(sample, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{base + ".bin": data, base + ".json": append(text, '\n')} {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// firstZero finds a field that says nothing.
func firstZero(v reflect.Value, name string) string {
	if v.IsZero() {
		return name
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if found := firstZero(v.Field(i), name+"."+v.Type().Field(i).Name); found != "" {
				return found
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type().Elem().Kind() == reflect.Struct {
				if found := firstZero(v.Index(i), fmt.Sprintf("%s[%d]", name, i)); found != "" {
					return found
				}
			}
		}
	}
	return ""
}
