package projects

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/openapi/reference"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// addOperations adds a page of the operations with a text in their path, summary, scopes or tag, by tag in the order in
// which the tags come first.
func addOperations(m *projects.OpenAPI, found contract.OpenAPI, shown string) {
	order, search := map[string]int{}, strings.ToLower(strings.TrimSpace(m.Search))
	var matching []contract.OpenAPIOperation
	for _, op := range found.Operations {
		text := strings.ToLower(op.Method + " " + op.Path + " " + op.Summary + " " + strings.Join(op.Scopes, ", ") +
			" " + op.Tag + " " + op.ID)
		if !strings.Contains(text, search) {
			continue
		}
		if _, known := order[op.Tag]; !known {
			order[op.Tag] = len(order)
		}
		matching = append(matching, op)
	}
	slices.SortStableFunc(matching, func(a, b contract.OpenAPIOperation) int { return order[a.Tag] - order[b.Tag] })
	at := func(page int) string {
		return m.URL + "?" + url.Values{"q": {m.Search}, "page": {strconv.Itoa(page)}}.Encode() + "#openapi-operations"
	}
	from, to, paging := page.PageOf("operations", len(matching), shown, at)
	m.Groups, m.Paging = operationGroups(matching[from:to], m.URL), paging
}

// operationGroups returns operations that are sorted by tag.
func operationGroups(list []contract.OpenAPIOperation, path string) (out []projects.OperationGroup) {
	for i, op := range list {
		if i == 0 || op.Tag != list[i-1].Tag {
			out = append(out, projects.OperationGroup{Tag: cmp.Or(short(op.Tag), "Untagged")})
		}
		group := &out[len(out)-1]
		group.Rows = append(group.Rows, projects.OperationRow{
			Method:     op.Method,
			Path:       short(op.Path),
			Summary:    short(op.Summary),
			Scopes:     short(strings.Join(op.Scopes, ", ")),
			Deprecated: op.Deprecated,
			URL:        path + "/operation?" + url.Values{"method": {op.Method}, "path": {op.Path}}.Encode(),
		})
	}
	return out
}

// short returns a text as a list shows it: documents have summaries of any length.
func short(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// addOpenAPISettings adds what the gateway does with the document, and the requests that did not match it.
func (h *Handler) addOpenAPISettings(
	v *page.Visit, p rules.Project, m *projects.OpenAPI, mayChange bool, path string,
) error {
	settings, err := h.Projects.OpenAPISettings(v.Ctx(), v.Who, versionIn(v, p))
	if err != nil {
		return err
	}
	m.Settings = &projects.OpenAPISettings{SavedOpenAPISettings: settings}
	if mayChange {
		m.Settings.Action = path + "/settings"
	}
	for _, one := range settings.Unchecked {
		m.Unchecked = append(m.Unchecked, ui.Fact{Label: one.At, Value: one.Reason})
	}
	invalid, err := h.Usage.InvalidRequests(v.Ctx(), v.Who, versionIn(v, p))
	if err != nil && fault.KindOf(err) != fault.Forbidden {
		return err
	}
	for _, one := range invalid.Items {
		m.Invalid = append(m.Invalid, projects.InvalidRow{
			Operation: one.Operation,
			Calls:     humanize.Comma(one.Calls),
			Last:      one.LastAt,
			Problem:   one.Problem,
		})
	}
	return nil
}

// versionIn is the version in the address.
func versionIn(v *page.Visit, p rules.Project) contract.VersionPath {
	return contract.VersionPath{ProjectPath: contract.ProjectPath{Project: p.ID}, Version: v.Param("version")}
}

func (h *Handler) saveOpenAPISettings(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	in := contract.OpenAPISettingsUpdate{
		VersionPath: versionIn(v, p), Condition: contract.Condition{IfMatch: v.Posted("revision")},
	}
	v.Fill(&in.Body, "validation", "publication")
	_, err = h.Projects.SetOpenAPISettings(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("openapi_used", openAPIPath(p, v.Param("version")), p.DisplayName)
	}
	shown := func(problem, wrong string, status int) (web.Answer, error) {
		return h.openAPIWith(v, func(m *projects.OpenAPI) {
			f := m.Settings
			f.Error, f.Wrong, f.OpenAPISettings = problem, wrong, in.Body
		}, status)
	}
	if fault.KindOf(err) == fault.Stale {
		return shown("The settings have changed since you opened this page. To replace them with yours, save "+
			"again.", "",
			http.StatusPreconditionFailed)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	validation := wrong.Value("/validation", "").Error
	return shown(wrong.Rest(), validation, wrong.Status)
}

func (h *Handler) showOperation(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, _, err := h.Projects.OpenAPIOperation(v.Ctx(), v.Who, versionIn(v, p), v.Gin.Query("method"),
		v.Gin.Query("path"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	back := openAPIPath(p, v.Param("version"))
	title := found.Method + " " + found.Path
	m := projects.Operation{
		Page: v.Shell(title, back, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "OpenAPI", URL: back}, ui.Crumb{Text: title}),
		Method:      found.Method,
		Path:        found.Path,
		Summary:     found.Summary,
		Description: found.Description,
		Deprecated:  found.Deprecated,
		Parameters:  parameterRows(found.Parameters),
		Body:        contentViews(found.Body),
		BackURL:     back,
	}
	if found.ID != "" {
		m.Facts = append(m.Facts, ui.Fact{Label: "Operation", Value: found.ID, Mono: true})
	}
	if len(found.Needs) > 0 {
		m.Facts = append(m.Facts, ui.Fact{Label: "Requires", Value: strings.Join(found.Needs, ", or ")})
	}
	for _, one := range found.Responses {
		m.Responses = append(m.Responses, projects.ResponseView{
			Status:      one.Status,
			Description: one.Description,
			Content:     contentViews(one.Content),
		})
	}
	return web.Answer{Status: http.StatusOK, Page: projects.OperationPage(m)}, nil
}

func parameterRows(list []reference.Member) (out []projects.MemberRow) {
	for _, one := range list {
		row := memberRow(one)
		row.Type = one.In + ", " + row.Type
		out = append(out, row)
	}
	return out
}

func memberRow(one reference.Member) projects.MemberRow {
	return projects.MemberRow{
		Name:     one.Name,
		Type:     one.Type,
		Rules:    one.Rules,
		Note:     one.Note,
		Required: one.Required,
		Depth:    one.Depth,
	}
}

func contentViews(list []reference.Content) (out []projects.ContentView) {
	for _, one := range list {
		view := projects.ContentView{Title: one.Type + ": " + one.Of, Example: one.Example, Cut: one.Cut}
		for _, member := range one.Members {
			view.Members = append(view.Members, memberRow(member))
		}
		out = append(out, view)
	}
	return out
}
