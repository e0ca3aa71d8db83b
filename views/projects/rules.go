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

// ruleSyntax are the parts of a line of rules.
var ruleSyntax = []ui.Fact{
	{Label: "*", Value: "Matches all methods, as in * /orders."},
	{Label: "{name}", Value: "Matches a path segment or part of one."},
	{Label: "/**", Value: "At the end of a path, matches the path before it and everything under it."},
	{Label: "scopes=a,b", Value: "Requires all of these scopes."},
	{Label: "groups=a,b", Value: "Requires one of these groups."},
	{Label: "role=admin", Value: "Requires the admin role in one of these groups."},
	{Label: "owner=order:{id}", Value: "Requires the caller to own this object."},
	{Label: "remember=order:{response.id}", Value: "Makes the caller the owner after a 2xx response."},
	{Label: "forget=order:{id}", Value: "Removes all owners after a 2xx response."},
	{Label: "mode=shadow", Value: "Overrides the mode above. You can also use mode=off and mode=enforce."},
}

func (f *RulesForm) defaults() ui.Group {
	return ui.Group{
		ID:     "rules-default",
		Name:   "default",
		Legend: "Routes without a rule",
		Options: []ui.Option{
			{
				Value:  "allow",
				Title:  "Allow",
				Text:   "Every caller that Access allows can call these routes.",
				Chosen: f.Default == "allow",
			},
			{
				Value:  "deny",
				Title:  "Deny",
				Text:   "Every call to these routes gets 403 no_rule.",
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
		Hint:   "Applies to this page's settings and to rules without their own mode.",
		Options: []ui.Option{
			{
				Value:  "enforce",
				Title:  "Enforce",
				Text:   "Calls that violate the rules are refused.",
				Chosen: f.Mode == "enforce",
			},
			{
				Value:  "shadow",
				Title:  "Shadow",
				Text:   "Calls are forwarded. Calls that would be refused are counted.",
				Chosen: f.Mode == "shadow",
			},
			{Value: "off", Title: "Off", Text: "Rules aren't checked.", Chosen: f.Mode == "off"},
		},
	}
}

func (f *RulesForm) scopes() ui.Group {
	return ui.Group{
		ID:     "rules-scopes",
		Name:   "read_write_scopes",
		Legend: "Key scopes",
		Options: []ui.Option{{
			Value: "true",
			Title: "Require the scopes read and write",
			Text: "If no rule requires a scope, keys need read for GET, HEAD and OPTIONS, and write for other " +
				"methods. Keys of type full have both scopes. Keys of type read-only have only read.",
			Chosen: f.ReadWrite,
		}},
	}
}
