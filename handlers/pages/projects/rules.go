package projects

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func rulesPath(p rules.Project, version string) string {
	return page.ProjectPath(p.Name) + "/versions/" + version + "/rules"
}

// showRules shows the rules of a version; with ?proposed=true the form has those that follow from its
// OpenAPI document next to them, in shadow.
func (h *Handler) showRules(v *page.Visit) (web.Answer, error) {
	if v.Gin.Query("proposed") != "true" {
		return h.rulesWith(v, func(*projects.RulesForm) {}, http.StatusOK)
	}
	found, err := h.Projects.ProposedRules(v.Ctx(), v.Who, contract.VersionPath{
		ProjectPath: contract.ProjectPath{Project: v.Param("project")}, Version: v.Param("version"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	return h.rulesWith(v, func(f *projects.RulesForm) { proposeRules(f, found) }, http.StatusOK)
}

// proposeRules adds the proposed rules to the lines of the form.
func proposeRules(f *projects.RulesForm, found contract.RuleProposal) {
	f.Warnings = page.NoticesOf(found.Warnings)
	added := found.Rules
	if len(added) == 0 {
		f.Proposal = "The OpenAPI document doesn't suggest any more rules."
		return
	}
	f.Lines.Text = strings.TrimLeft(f.Lines.Text+"\n"+ruleLines(added), "\n")
	f.Proposal = english.Plural(len(added), "proposed rule", "") + " from the OpenAPI document " +
		english.PluralWord(len(added), "was", "were") + " added below in shadow mode. Nothing has been saved yet."
	if found.Derived {
		f.Proposal += " The document doesn't name any scopes, so they were derived from its paths."
	}
	if n := len(found.LeftOut); n > 0 {
		f.Proposal += " Rules can't be created for " + english.Plural(n, "operation", "") + ", such as " +
			found.LeftOut[0].Operation + ": " + found.LeftOut[0].Reason
	}
}

// rulesWith shows the rules of a version with what mark adds to the form.
func (h *Handler) rulesWith(v *page.Visit, mark func(*projects.RulesForm), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, err := h.Projects.Rules(v.Ctx(), v.Who, versionIn(v, p))
	if err != nil {
		return web.Answer{}, err
	}
	counted, err := h.Usage.ShadowRefusals(v.Ctx(), v.Who, versionIn(v, p))
	if err != nil {
		return web.Answer{}, err
	}
	missed, err := h.Usage.RelationMisses(v.Ctx(), v.Who, versionIn(v, p))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	path, version := rulesPath(p, v.Param("version")), versionName(p, v.Param("version"))
	m := projects.Rules{
		Page: v.Shell("Rules for "+version, path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Rules"}),
		Version: version,
		Facts:   ruleFacts(&found.Rules),
		Shadow:  shadowOfOthers(&found.Rules, counted.Items),

		ExplainURL:   page.ExplainPath(p) + "?version=" + url.QueryEscape(version),
		RelationsURL: relationsPath(p),
	}
	at := func(page int) string { return path + "?page=" + strconv.Itoa(page) }
	from, to, paging := page.PageOf("rules", len(found.List), v.Gin.Query("page"), at)
	m.Paging = paging
	for i := range found.List[from:to] {
		m.Rows = append(m.Rows, ruleRow(&found.Rules, &found.List[from+i], counted.Items, missed.Items))
	}
	if v.MayChange(p, access.ProjectUpdate) {
		m.Form = &projects.RulesForm{
			Action:    path,
			Revision:  found.ETag,
			Default:   string(found.Default),
			Mode:      string(found.Mode),
			ReadWrite: found.ReadWriteScopes,
			Lines:     ui.Value{Text: ruleLines(found.List)},
		}
		mark(m.Form)
	}
	if m.Form == nil || m.Form.Proposal == "" { // those of a proposal are next to it
		m.Warnings, _ = page.WarningTexts(p.KeyTypeWarnings(v.Param("version")), nil)
		for _, one := range found.Warnings {
			m.Warnings = append(m.Warnings, one.Detail)
		}
	}
	return web.Answer{Status: status, Page: projects.RulesPage(m)}, nil
}

func ruleFacts(of *snapshot.Rules) []ui.Fact {
	without, scopes := "allowed", "not required"
	if of.Default == snapshot.RulesDeny {
		without = "denied"
	}
	if of.ReadWriteScopes {
		scopes = "required if no rule requires a scope"
	}
	return []ui.Fact{
		{Label: "Routes without a rule", Value: without},
		{Label: "Read and write scopes", Value: scopes},
		{Label: "Mode", Value: string(of.Mode)},
	}
}

func ruleRow(
	of *snapshot.Rules, rule *snapshot.Rule, counted []contract.ShadowRefusal, missed []contract.RelationMiss,
) projects.RuleRow {
	row := projects.RuleRow{
		Methods: strings.Join(rule.Methods, ", "),
		Path:    rule.Path,
		Needs:   needsOf(rule),
		Mode:    string(of.ModeOf(rule)),
	}
	if calls := shadowCalls(counted, rule.ID); calls > 0 {
		row.Shadow = "would have refused " + page.CountText(int64(calls), "call")
	}
	for _, one := range missed {
		if one.Rule == rule.ID {
			row.Missed = append(row.Missed, "couldn't find an object in "+page.CountText(one.Calls, "response")+": "+
				missText(one.Reason))
		}
	}
	return row
}

// missText says why no object was found in an answer.
func missText(reason string) string {
	switch policy.MissReason(reason) {
	case policy.MissNotJSON:
		return "the body isn't JSON"
	case policy.MissEncoded:
		return "the body is compressed, but not with gzip"
	case policy.MissTooLarge:
		return "the body is over 1 MB"
	case policy.MissNoBody:
		return "the response doesn't have a body"
	case policy.MissIncomplete:
		return "the body was cut off"
	case policy.MissNoValue:
		return "the body doesn't contain the member that the rule names"
	case policy.MissUnusable:
		return "the value isn't text or an integer, or is too long"
	case policy.MissOverloaded:
		return "too many calls were waiting for the database"
	case policy.MissNoMemory:
		return "the bodies of other calls used all available memory"
	}
	return reason
}

func needsOf(rule *snapshot.Rule) string {
	var needs []string
	if len(rule.Scopes) > 0 {
		needs = append(needs, english.PluralWord(len(rule.Scopes), "scope", "")+" "+
			english.WordSeries(rule.Scopes, "and"))
	}
	if len(rule.Groups) > 0 {
		of := "member of "
		if rule.Role == snapshot.RoleAdmin {
			of = "admin of "
		}
		needs = append(needs, of+english.WordSeries(rule.Groups, "or"))
	}
	if rule.Owner != "" {
		needs = append(needs, "owner of "+rule.Owner)
	}
	if len(needs) == 0 {
		needs = append(needs, "no further requirements")
	}
	if rule.Remember != "" {
		needs = append(needs, "remembers "+rule.Remember)
	}
	if rule.Forget != "" {
		needs = append(needs, "forgets "+rule.Forget)
	}
	return strings.Join(needs, "; ")
}

func shadowCalls(counted []contract.ShadowRefusal, rule string) (calls int) {
	for _, one := range counted {
		if one.Rule == rule {
			calls += int(one.Calls)
		}
	}
	return calls
}

// shadowOfOthers says what was counted for rules that are not in the list.
func shadowOfOthers(of *snapshot.Rules, counted []contract.ShadowRefusal) []string {
	var out []string
	for _, one := range counted {
		calls := page.CountText(one.Calls, "call")
		known := func(rule snapshot.Rule) bool { return rule.ID == one.Rule }
		switch {
		case one.Rule == policy.ByDefault:
			out = append(out, "Would have refused "+calls+" to routes without a rule.")
		case one.Rule == policy.ByReadWriteScopes:
			out = append(out, "Would have refused "+calls+" with keys that lack the read or write scope.")
		case !slices.ContainsFunc(of.List, known):
			out = append(out, "Removed rules would have refused "+calls+".")
		}
	}
	return out
}

// ruleLines writes rules as the form has them, one a line.
func ruleLines(list []snapshot.Rule) string {
	var out []string
	for _, rule := range list {
		line := strings.Join(rule.Methods, ",") + " " + rule.Path
		add := func(name, value string) {
			if value != "" {
				line += " " + name + "=" + value
			}
		}
		add("scopes", strings.Join(rule.Scopes, ","))
		add("groups", strings.Join(rule.Groups, ","))
		add("role", rule.Role)
		add("owner", rule.Owner)
		add("remember", rule.Remember)
		add("forget", rule.Forget)
		add("mode", string(rule.Mode))
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// readRuleLines reads the rules of the form, and the line of each. The first one that the version has for the same
// methods and path keeps its id.
func readRuleLines(text string, now []snapshot.Rule) (list []snapshot.Rule, lines []page.PlacedLine, wrong string) {
	var mistakes []string
	taken := map[string]bool{}
	for number, line := range page.NumberedLines(text) {
		rule, detail := readRuleLine(line)
		if detail != "" {
			mistakes = append(mistakes, page.LineMistake(number, detail))
			continue
		}
		same := func(have snapshot.Rule) bool {
			return have.Path == rule.Path && slices.Equal(have.Methods, rule.Methods) && !taken[have.ID]
		}
		if at := slices.IndexFunc(now, same); at >= 0 {
			rule.ID = now[at].ID
			taken[rule.ID] = true
		}
		pointer := fmt.Sprintf("/rules/%d", len(list))
		list, lines = append(list, rule), append(lines, page.PlacedLine{Number: number, Pointers: []string{pointer}})
	}
	return list, lines, page.LineMistakes(mistakes)
}

// readRuleLine reads a line of the form, and says what is wrong with one that it can't read.
func readRuleLine(line string) (rule snapshot.Rule, wrong string) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return rule, "Enter methods and a path, such as GET /orders/{id}."
	}
	rule = snapshot.Rule{Methods: strings.Split(strings.ToUpper(words[0]), ","), Path: words[1]}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "scopes":
			rule.Scopes = strings.Split(value, ",")
		case "groups":
			rule.Groups = strings.Split(value, ",")
		case "role":
			rule.Role = value
		case "mode":
			rule.Mode = snapshot.RuleMode(value)
		case "owner":
			rule.Owner = value
		case "remember":
			rule.Remember = value
		case "forget":
			rule.Forget = value
		default:
			return rule, word + " isn't one of scopes=, groups=, role=, owner=, remember=, forget= and mode=."
		}
	}
	return rule, ""
}

// nameTiedLines makes the error of two rules for the same calls name their lines instead of their numbers and ids,
// which the page doesn't show.
func nameTiedLines(wrong *page.Errors, list []snapshot.Rule, lines []page.PlacedLine) {
	at := slices.IndexFunc(wrong.Fields, func(f fault.Field) bool { return f.Code == rules.CodeAmbiguousRule })
	if at < 0 {
		return
	}
	first, second, tied := policy.TiedRules(list)
	if !tied {
		return
	}
	text := func(i int) string { return strings.Join(list[i].Methods, ",") + " " + list[i].Path }
	wrong.Fields[at].Detail = fmt.Sprintf("%s and line %d (%s) match the same calls, and neither is more specific. "+
		"Remove one of them, or change its methods or path.", text(second), lines[first].Number, text(first))
}

func (h *Handler) saveRules(v *page.Visit) (web.Answer, error) {
	revision, text := v.Posted("revision"), v.Posted("rules")
	change := snapshot.Rules{
		Default:         snapshot.RuleDefault(v.Posted("default")),
		Mode:            snapshot.RuleMode(v.Posted("rules_mode")),
		ReadWriteScopes: v.Posted("read_write_scopes") == "true",
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	now, err := h.Projects.Rules(v.Ctx(), v.Who, versionIn(v, p))
	if err != nil {
		return web.Answer{}, err
	}
	shown := func(lines ui.Value, problem string, status int) (web.Answer, error) {
		return h.rulesWith(v, func(f *projects.RulesForm) {
			f.Revision, f.Default, f.Mode = revision, string(change.Default), string(change.Mode)
			f.ReadWrite, f.Lines, f.Error = change.ReadWriteScopes, lines, problem
		}, status)
	}
	list, lines, unread := readRuleLines(text, now.List)
	if unread != "" {
		return shown(ui.Value{Text: text, Error: unread}, "", http.StatusUnprocessableEntity)
	}
	change.List = list
	_, err = h.Projects.SetRules(v.Ctx(), v.Who, contract.RulesUpdate{
		VersionPath: versionIn(v, p), Condition: contract.Condition{IfMatch: revision}, Body: change,
	})
	if err == nil {
		project := v.Param("project")
		return v.Done("rules", page.ProjectPath(project)+"/versions/"+v.Param("version")+"/rules", project)
	}
	if fault.KindOf(err) == fault.Stale {
		revision = now.ETag
		return shown(ui.Value{Text: text}, "The rules have changed since you opened this page. The list above shows "+
			"the current rules. To replace them with yours, save again.", http.StatusPreconditionFailed)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	nameTiedLines(wrong, list, lines)
	problem := strings.TrimSpace(wrong.TakePlaced(lines) + " " + wrong.Take("/rules"))
	return shown(ui.Value{Text: text, Error: problem}, wrong.Rest(), wrong.Status)
}
