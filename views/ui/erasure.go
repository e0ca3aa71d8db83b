package ui

// Erasure asks for a name before something is deleted for good, and says what goes along. It
// posts typed_name to Action.
type Erasure struct {
	ID     string
	Action string
	Facts  []Fact // what goes along
	Text   string // what becomes of the rest
	Label  string // such as "Tenant name"
	Name   string // to type
	Typed  Value
	Error  string
	Button string
}
