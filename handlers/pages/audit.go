package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/audit"
	"postern/service/projects"
	views "postern/views/audit"
	"postern/views/ui"
)

const auditPath = "/audit"

// historyOf returns the address of the audit entries about an object, "" for visitors who
// may not read them.
func (v *visit) historyOf(p projects.Project, object string) string {
	if !v.who.May(p.Team, access.AuditRead) {
		return ""
	}
	query := url.Values{"team": {p.Team}}
	if object == "" {
		query.Set("project", p.Name)
	} else {
		query.Set("object", object)
	}
	return auditPath + "?" + query.Encode()
}

// auditList is what the log can be asked for. Its filters have a form of their own.
func auditList() *listing {
	l := &listing{
		path:   auditPath,
		one:    "entry",
		orders: []listOrder{{by: "created", text: "Time", desc: true}},
		scope:  []string{"team"},
		form:   "audit-filters",
		filters: []listFilter{
			{name: "project", title: "Project"},
			{name: "action", title: "Kind"},
			{name: "outcome", title: "Outcome"},
			{name: "actor", title: "By"},
			{name: "object", title: "About"},
			{name: "from", title: "From"},
			{name: "to", title: "Until"},
		},
	}
	for i := range l.filters {
		l.filters[i].typed = true
	}
	return l
}

// auditAsked is what the query asks for, and the fields of its days. A day that cannot be read does not filter, and its
// field has an error.
func (l *listing) auditAsked() (in contract.AuditList, fromField, toField ui.Value) {
	from, fromField := dayField(l.get("from"))
	to, toField := dayField(l.get("to"))
	if !to.IsZero() {
		to = to.AddDate(0, 0, 1) // the day itself counts
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		to, toField.Error = time.Time{}, "This is before the first day."
	}
	for name, field := range map[string]ui.Value{"from": fromField, "to": toField} {
		if field.Error != "" {
			l.query.Del(name)
		}
	}
	return contract.AuditList{
		Page:    l.asked(),
		Team:    l.get("team"),
		Project: l.get("project"),
		Action:  l.get("action"),
		Outcome: l.get("outcome"),
		Actor:   l.get("actor"),
		Object:  l.get("object"),
		From:    from,
		To:      to,
		Sort:    l.sorting(),
		Text:    l.get("q"),
	}, fromField, toField
}

// showAudit shows the entries that the filters select.
func (h *Handler) showAudit(v *visit) (web.Answer, error) {
	list := auditList().read(v)
	in, from, to := list.auditAsked()
	found, unknown, err := h.listAudit(v, in)
	if err != nil {
		return web.Answer{}, err
	}
	choices, err := h.Audit.Choices(v.ctx(), v.who, found.Team)
	if err != nil {
		return web.Answer{}, err
	}
	m := views.Log{
		Page:     v.shell("Audit log", list.with(), ui.Crumb{Text: "Audit log"}),
		Teams:    optionsOf(choices.Teams, cmp.Or(found.Team, contract.Installation), ""),
		Projects: optionsOf(choices.Projects, in.Project, "Every project"),
		Actions:  optionsOf(actionChoices(), in.Action, "Everything"),
		Outcomes: optionsOf(outcomeChoices, in.Outcome, "Done and refused"),
		Text:     in.Text,
		Actor:    in.Actor,
		From:     from,
		To:       to,
		Unknown:  unknown,
	}
	if choices.MoreProjects {
		m.Project = &ui.Value{Text: in.Project}
	}
	for _, name := range []string{"object", "sort", "dir"} {
		if value := list.get(name); value != "" {
			m.Kept = append(m.Kept, ui.Hidden{Name: name, Value: value})
		}
	}
	list.name("project", m.Projects)
	list.name("action", m.Actions)
	list.name("outcome", m.Outcomes)
	m.List = listView(list, found.List)
	for _, e := range found.Items {
		entry := auditEntry(e)
		if in.Actor == "" {
			entry.WhoURL = list.with("actor", *cmp.Or(e.Actor.Email, &e.Actor.ID))
		}
		m.Entries = append(m.Entries, entry)
	}
	return web.Show(views.LogPage(m)), nil
}

var outcomeChoices = []audit.Choice{
	{Value: models.OutcomeDone, Title: "Done"},
	{Value: models.OutcomeRefused, Title: "Refused"},
}

// listAudit lists entries. If the project that the query names does not exist it lists none, and returns the name:
// people type it.
func (h *Handler) listAudit(v *visit, in contract.AuditList) (found audit.Log, unknown string, err error) {
	found, err = h.Audit.Log(v.ctx(), v.who, in)
	if fault.KindOf(err) != fault.NotFound || in.Project == "" {
		return found, "", err
	}
	unknown, in.Project = in.Project, ""
	found, err = h.Audit.Log(v.ctx(), v.who, in)
	return audit.Log{Team: found.Team}, unknown, err
}

// dayField parses a day as its first instant in UTC.
func dayField(text string) (time.Time, ui.Value) {
	if text == "" {
		return time.Time{}, ui.Value{}
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, ui.Value{Text: text, Error: "Give a day such as 2030-01-31."}
	}
	return day, ui.Value{Text: text}
}

// optionsOf returns the choices as options, after the option for all if there is one.
func optionsOf(choices []audit.Choice, chosen, all string) []ui.Option {
	var out []ui.Option
	if all != "" {
		out = append(out, ui.Option{Title: all, Chosen: chosen == ""})
	}
	for _, c := range choices {
		out = append(out, ui.Option{Value: c.Value, Title: c.Title, Chosen: c.Value == chosen})
	}
	return out
}

func actionChoices() []audit.Choice {
	var out []audit.Choice
	for _, action := range access.Recorded() {
		out = append(out, audit.Choice{
			Value: string(action),
			Title: strings.NewReplacer(".", ": ", "_", " ").Replace(string(action)),
		})
	}
	return out
}

func auditEntry(e contract.AuditEntry) views.Entry {
	out := views.Entry{
		ID:      e.ID,
		Time:    e.Time.Format("2 Jan 2006, 15:04:05"),
		Stamp:   e.Time.Format(time.RFC3339Nano),
		Who:     actorText(e),
		Text:    auditText(e),
		Refused: e.Outcome == models.OutcomeRefused,
	}
	for _, name := range slices.Sorted(maps.Keys(e.Changes)) {
		change := e.Changes[name]
		out.Changes = append(out.Changes, views.Change{
			Field:  name,
			Before: valueText(change.Before),
			After:  valueText(change.After),
		})
	}
	fact := func(label, value string) {
		if value != "" {
			out.Facts = append(out.Facts, ui.Fact{Label: label, Value: value, Mono: true})
		}
	}
	fact("Action", e.Action)
	fact("Object", e.Object)
	for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
		fact(strings.ToUpper(name[:1])+strings.ReplaceAll(name[1:], "_", " "), e.Detail[name])
	}
	fact("Actor", e.Actor.ID)
	if e.Actor.Token != nil {
		fact("Credential", *e.Actor.Token)
	}
	fact("Address", e.Address)
	fact("Request", e.RequestID)
	fact("Entry", fmt.Sprintf("%d, %s", e.Number, e.Hash))
	if e.ProjectName != "" {
		out.URL = projectPath(e.ProjectName)
		if strings.HasPrefix(e.Object, "key_") {
			out.URL += "/keys/" + e.Object
		}
	}
	return out
}

// valueText returns texts and numbers as they are, and other values as JSON.
func valueText(value any) string {
	switch value := value.(type) {
	case nil:
		return "none"
	case string:
		return value
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
