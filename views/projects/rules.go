package projects

import "postern/views/ui"

// Rules shows what the routes of a version require.
type Rules struct {
	Page     ui.Page
	Version  string // name
	Facts    []ui.Fact
	Rows     []RuleRow
	Paging   ui.Paging
	Warnings []string   // about key types that the rules refuse
	Shadow   []string   // what was counted for routes without a rule
	Form     *RulesForm // nil for viewers
	BackURL  string     // of the project

	ExplainURL   string // explains how the gateway decides a call
	RelationsURL string // lists who owns which object
}

// RuleRow is a rule in the list.
type RuleRow struct {
	Methods string
	Path    string
	Needs   string
	Mode    string
	Shadow  string // how many calls it would have refused; "": none
	Missed  []string
}

// RulesForm posts revision, default, rules_mode, read_write_scopes and rules, one a line, to Action.
type RulesForm struct {
	Action    string
	Revision  string
	Default   string
	Mode      string
	ReadWrite bool
	Lines     ui.Value
	Error     string
	Proposal  string   // what was proposed; "" for nothing
	Warnings  []string // about key types that the proposed rules would refuse
}

func (f *RulesForm) defaults() ui.Group {
	return ui.Group{
		ID:     "rules-default",
		Name:   "default",
		Legend: "Routes without a rule",
		Options: []ui.Option{
			{
				Value:  "allow",
				Title:  "Open",
				Text:   "Everyone whom the access policy admits may call them.",
				Chosen: f.Default == "allow",
			},
			{
				Value:  "deny",
				Title:  "Closed",
				Text:   "Every call to them is refused with 403 no_rule.",
				Chosen: f.Default == "deny",
			},
		},
	}
}

func (f *RulesForm) modes() ui.Group {
	return ui.Group{
		ID:     "rules-mode",
		Name:   "rules_mode",
		Legend: "Mode",
		Hint:   "For this page's settings, and for rules without a mode of their own.",
		Options: []ui.Option{
			{Value: "enforce", Title: "Enforce", Text: "Calls are refused.", Chosen: f.Mode == "enforce"},
			{
				Value:  "shadow",
				Title:  "Shadow",
				Text:   "Calls go on. Those that would have been refused are counted.",
				Chosen: f.Mode == "shadow",
			},
			{Value: "off", Title: "Off", Text: "Nothing is asked for.", Chosen: f.Mode == "off"},
		},
	}
}

func (f *RulesForm) scopes() ui.Group {
	return ui.Group{
		ID:     "rules-scopes",
		Name:   "read_write_scopes",
		Legend: "Scopes of keys",
		Options: []ui.Option{{
			Value: "true",
			Title: "Ask keys for read and write",
			Text: "Where no rule names scopes, GET, HEAD and OPTIONS need the scope read, and other methods write. " +
				"Keys of the type full have both, those of read-only may read.",
			Chosen: f.ReadWrite,
		}},
	}
}
