package tools

import (
	"forgeplan/internal/workspace"
)

// The three kinds of tools, by what they need of the workspace.
type (
	reads   func(c *Run, values map[string]any) (any, error)
	mutates func(c *Run, values map[string]any) (any, error)
	starts  func(c *Run, values map[string]any, init func() (workspace.Initialized, error)) (any, error)
)

// typed lets a tool work on its own structs: values in, a pointer to its result
// out.
func typed[In, Out any](run func(*Run, In) (Out, error)) func(*Run, map[string]any) (any, error) {
	return func(c *Run, values map[string]any) (any, error) {
		var in In
		if err := Bind(values, &in); err != nil {
			return nil, err
		}
		out, err := run(c, in)
		return &out, err
	}
}

// Reading defines a tool that answers from snapshots and changes nothing.
func Reading[In, Out any](t Tool, run func(*Run, In) (Out, error)) *Tool {
	t.Params = ParamsOf(*new(In))
	t.out = func() any { return new(Out) }
	t.run = reads(typed(run))
	return &t
}

// Mutating defines a tool that decides on c.World: it emits events there and
// returns its result. The registry keeps the events, or drops them for a dry
// run or a failure.
func Mutating[In, Out any](t Tool, run func(*Run, In) (Out, error)) *Tool {
	t.Params = ParamsOf(*new(In))
	t.Params = append(t.Params, commonParams(t.Effect, namesArtifact(t.Params))...)
	t.out = func() any { return new(Out) }
	t.run = mutates(typed(run))
	return &t
}

// Starting defines the tool that makes the workspace.
func Starting[In, Out any](t Tool, run func(*Run, In, func() (workspace.Initialized, error)) (Out, error)) *Tool {
	t.Params = ParamsOf(*new(In))
	t.out = func() any { return new(Out) }
	t.run = starts(func(c *Run, values map[string]any, init func() (workspace.Initialized, error)) (any, error) {
		return typed(func(c *Run, in In) (Out, error) { return run(c, in, init) })(c, values)
	})
	return &t
}

// namesArtifact: the tool acts on an artifact that exists already.
func namesArtifact(params []Param) bool {
	for _, p := range params {
		if p.Name == "id" || p.Name == "source" {
			return true
		}
	}
	return false
}
