package event

// Initialized begins the journal of a workspace.
type Initialized struct {
	Project string `msgpack:"project,omitempty"` // name of the project
	Program string `msgpack:"program,omitempty"` // version of the program that made it
}

func (Initialized) EventName() string { return "workspace.initialized" }
func (Initialized) EventVersion() int { return 1 }
