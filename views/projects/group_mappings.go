package projects

import "postern/views/ui"

// GroupMappings lists the rules by which a provider's claims put users into groups.
type GroupMappings struct {
	Page     ui.Page
	Provider string // label
	Note     string // on this kind of provider, "" for none
	Rows     []GroupMappingRow
	Add      *GroupMappingForm // nil for viewers, and for providers without claims
	BackURL  string            // of the provider
}

// GroupMappingRow is a rule in the list.
type GroupMappingRow struct {
	Rule      string
	Group     string
	RemoveURL string // "" for viewers
}

// GroupMappingForm posts a new rule to Action.
type GroupMappingForm struct {
	Action              string
	Claim, Value, Group ui.Value
	Claims              []ui.Option // nil: any name
	Example             string      // of a value
	Matches             []ui.Option
	Error               string
}

// wrong reports whether the form was refused.
func (m GroupMappingForm) wrong() bool {
	return m.Error != "" || m.Claim.Error != "" || m.Value.Error != "" || m.Group.Error != ""
}

// GroupMappingRemoval asks before a rule is removed.
type GroupMappingRemoval struct {
	Page    ui.Page
	Facts   []ui.Fact
	Confirm ui.Confirmation
	BackURL string
}
