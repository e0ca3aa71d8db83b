package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/audit"
	views "postern/views/audit"
	"postern/views/ui"
)

// auditList has the parameters of the log's list. Its filters have their own form.
func auditList() *page.Listing {
	l := &page.Listing{
		Path:   page.AuditPath,
		One:    "entry",
		Orders: []page.ListOrder{{By: "created", Text: "Time", Desc: true}},
		Scope:  []string{"team"},
		Form:   "audit-filters",
		Filters: []page.ListFilter{
			{Name: "project", Title: "Project"},
			{Name: "action", Title: "Action"},
			{Name: "outcome", Title: "Outcome"},
			{Name: "actor", Title: "Actor"},
			{Name: "object", Title: "Object"},
			{Name: "from", Title: "From"},
			{Name: "to", Title: "Until"},
		},
	}
	for i := range l.Filters {
		l.Filters[i].Typed = true
	}
	return l
}

// auditRequest returns the request in the query, and the fields of its days. A day that cannot be read does not filter,
// and its field has an error.
func auditRequest(l *page.Listing) (in contract.AuditList, fromField, toField ui.Value) {
	from, fromField := dayField(l.Get("from"))
	to, toField := dayField(l.Get("to"))
	if !to.IsZero() {
		to = to.AddDate(0, 0, 1) // the day itself counts
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		to, toField.Error = time.Time{}, "This is before the start date."
	}
	for name, field := range map[string]ui.Value{"from": fromField, "to": toField} {
		if field.Error != "" {
			l.Query.Del(name)
		}
	}
	return contract.AuditList{
		Page:    l.Request(),
		Team:    l.Get("team"),
		Project: l.Get("project"),
		Action:  l.Get("action"),
		Outcome: l.Get("outcome"),
		Actor:   l.Get("actor"),
		Object:  l.Get("object"),
		From:    from,
		To:      to,
		Sort:    l.Sorting(),
		Text:    l.Get("q"),
	}, fromField, toField
}

// showAudit shows the entries that the filters select.
func (h *Handler) showAudit(v *page.Visit) (web.Answer, error) {
	list := auditList().Read(v)
	in, from, to := auditRequest(list)
	found, unknown, err := h.listAudit(v, in)
	if err != nil {
		return web.Answer{}, err
	}
	choices, err := h.Audit.Choices(v.Ctx(), v.Who, found.Team)
	if err != nil {
		return web.Answer{}, err
	}
	for i, one := range choices.Projects {
		choices.Projects[i].Title = page.ChoiceTitle(one.Title, one.Value)
	}
	m := views.Log{
		Page:     v.Shell("Audit log", list.With(), ui.Crumb{Text: "Audit log"}),
		Teams:    optionsOf(choices.Teams, cmp.Or(found.Team, contract.Installation), ""),
		Projects: optionsOf(choices.Projects, in.Project, "All projects"),
		Actions:  optionsOf(actionChoices(), in.Action, "All actions"),
		Outcomes: optionsOf(outcomeChoices, in.Outcome, "All outcomes"),
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
		if value := list.Get(name); value != "" {
			m.Kept = append(m.Kept, ui.Hidden{Name: name, Value: value})
		}
	}
	list.Name("project", m.Projects)
	list.Name("action", m.Actions)
	list.Name("outcome", m.Outcomes)
	m.List = page.ListView(list, found.List)
	for _, e := range found.Items {
		entry := auditEntry(e)
		if in.Actor == "" {
			entry.WhoURL = list.With("actor", *cmp.Or(e.Actor.Email, &e.Actor.ID))
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
func (h *Handler) listAudit(v *page.Visit, in contract.AuditList) (found audit.Log, unknown string, err error) {
	found, err = h.Audit.Log(v.Ctx(), v.Who, in)
	if fault.KindOf(err) != fault.NotFound || in.Project == "" {
		return found, "", err
	}
	unknown, in.Project = in.Project, ""
	found, err = h.Audit.Log(v.Ctx(), v.Who, in)
	return audit.Log{Team: found.Team}, unknown, err
}

// dayField parses a day as its first instant in UTC.
func dayField(text string) (time.Time, ui.Value) {
	if text == "" {
		return time.Time{}, ui.Value{}
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, ui.Value{Text: text, Error: "Enter a date such as 2030-01-31."}
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
		out = append(out, audit.Choice{Value: string(action), Title: audit.ActionTitle(action)})
	}
	return out
}

func auditEntry(e contract.AuditEntry) views.Entry {
	out := views.Entry{
		ID:      e.ID,
		Time:    e.Time.Format("2 Jan 2006, 15:04:05"),
		At:      e.Time,
		Who:     audit.ActorText(e),
		Text:    audit.ActionText(e),
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
		out.URL = page.ProjectPath(e.ProjectName)
		if strings.HasPrefix(e.Object, "key_") {
			out.URL += "/keys/" + e.Object
		}
	}
	return out
}

// valueText returns texts and numbers unchanged, and other values as JSON.
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
