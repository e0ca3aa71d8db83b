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

// auditFilters are the fields of the form, in the order of the query string.
var auditFilters = []string{"team", "project", "action", "outcome", "actor", "object", "from", "to"}

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

// showAudit shows the entries that the filters select. A day that cannot be read does not
// filter, and its field says so.
func (h *Handler) showAudit(v *visit) (web.Answer, error) {
	form := url.Values{}
	for _, name := range auditFilters {
		if value := strings.TrimSpace(v.c.Query(name)); value != "" {
			form.Set(name, value)
		}
	}
	from, fromField := dayField(form.Get("from"))
	to, toField := dayField(form.Get("to"))
	if !to.IsZero() {
		to = to.AddDate(0, 0, 1) // the day itself counts
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		to, toField.Error = time.Time{}, "This is before the first day."
	}
	q := audit.Query{
		Team:    form.Get("team"),
		Project: form.Get("project"),
		Action:  form.Get("action"),
		Outcome: form.Get("outcome"),
		Actor:   form.Get("actor"),
		Object:  form.Get("object"),
		From:    from,
		To:      to,
		Page:    models.Page{Cursor: v.c.Query("before")},
	}
	found, unknown, err := h.listAudit(v, q)
	if err != nil {
		return web.Answer{}, err
	}
	choices, err := h.Audit.Choices(v.ctx(), v.who, found.Team)
	if err != nil {
		return web.Answer{}, err
	}
	m := views.Log{
		Page:     v.shell("Audit log", auditPath+"?"+form.Encode(), projectsCrumb(), ui.Crumb{Text: "Audit log"}),
		Here:     auditPath,
		Actor:    q.Actor,
		From:     fromField,
		To:       toField,
		Object:   q.Object,
		Filtered: len(form) > 1 || (len(form) == 1 && !form.Has("team")),
		Unknown:  unknown,
	}
	m.Teams = optionsOf(choices.Teams, cmp.Or(found.Team, audit.Installation), "")
	m.Projects = optionsOf(choices.Projects, q.Project, "Every project")
	if choices.MoreProjects {
		m.Project = &ui.Value{Text: q.Project}
	}
	m.Actions = optionsOf(actionChoices(), q.Action, "Everything")
	m.Outcomes = optionsOf(
		[]audit.Choice{
			{Value: models.OutcomeDone, Title: "Done"},
			{Value: models.OutcomeRefused, Title: "Refused"},
		},
		q.Outcome, "Done and refused",
	)
	if found.Next != "" {
		m.OlderURL = auditPath + "?" + withBefore(form, found.Next)
	}
	if q.Cursor != "" {
		m.NewURL = auditPath + "?" + form.Encode()
	}
	for _, e := range found.Items {
		m.Entries = append(m.Entries, auditEntry(e))
	}
	return web.Show(views.LogPage(m)), nil
}

// listAudit lists entries. If the project of the query does not exist it lists none, and returns what was called for:
// people type its name.
func (h *Handler) listAudit(v *visit, q audit.Query) (found audit.Page, unknown string, err error) {
	found, err = h.Audit.List(v.ctx(), v.who, q)
	if fault.KindOf(err) != fault.NotFound || q.Project == "" {
		return found, "", err
	}
	unknown, q.Project = q.Project, ""
	found, err = h.Audit.List(v.ctx(), v.who, q)
	found.List = models.List[audit.Entry]{}
	return found, unknown, err
}

func withBefore(form url.Values, cursor string) string {
	query := maps.Clone(form)
	query.Set("before", cursor)
	return query.Encode()
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

func auditEntry(e audit.Entry) views.Entry {
	out := views.Entry{
		ID:      e.ID,
		Time:    e.CreatedAt.UTC().Format("2 Jan 2006, 15:04:05"),
		Stamp:   e.CreatedAt.UTC().Format(time.RFC3339Nano),
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
	fact("Actor", e.Actor)
	fact("Credential", e.TokenID)
	fact("Address", e.RemoteAddr)
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
