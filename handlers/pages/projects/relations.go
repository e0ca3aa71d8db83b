package projects

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/service/relations"
	"postern/views/projects"
	"postern/views/ui"
)

func relationsPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/relations" }

// forgetPath leads to the confirmation that a relation is forgotten. Objects have slashes and escapes, so that they
// are in the query.
func forgetPath(p rules.Project, f contract.RelationFilter) string {
	query := url.Values{"tenant": {f.Tenant}, "object": {f.Object}, "user": {f.User}}
	return relationsPath(p) + "/forget?" + query.Encode()
}

func (h *Handler) showRelations(v *page.Visit) (web.Answer, error) {
	return h.relationsWith(v, func(*projects.Relations) {}, http.StatusOK)
}

// relationsWith shows who owns which object, with what mark adds to the page.
func (h *Handler) relationsWith(v *page.Visit, mark func(*projects.Relations), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	path := relationsPath(p)
	m := projects.Relations{
		Page: v.Shell("Object owners", path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Object owners"}),
		ByTenant: len(p.Tenants) > 1,
		BackURL:  page.ProjectPath(p.Name),
	}
	mayChange := v.MayChange(p, access.ProjectUpdate)
	if err := h.relationRows(v, p, &m, mayChange); err != nil {
		return web.Answer{}, err
	}
	if m.Missed, err = h.relationMisses(v, p); err != nil {
		return web.Answer{}, err
	}
	if mayChange {
		m.Add = &projects.RelationAdd{Action: path}
		m.Import = &projects.RelationImport{Action: path + "/import"}
		m.Curl = m.Page.Curl("/api/v1"+path, `{"user": "billing-service", "object": "order:42"}`)
		if m.ByTenant {
			m.Add.Tenants = page.Named(p.Tenants)
			page.Choose(m.Add.Tenants, snapshot.DefaultTenant)
		}
	}
	mark(&m)
	return web.Answer{Status: status, Page: projects.RelationsPage(m)}, nil
}

// relationList has the parameters of the list of owners.
func relationList(p rules.Project) *page.Listing {
	l := &page.Listing{
		Path:   relationsPath(p),
		One:    "owner",
		Search: "Object or owner",
		Orders: []page.ListOrder{{By: "object"}, {By: "user"}, {By: "created", Desc: true}},
		Filters: []page.ListFilter{
			{Name: "object", Title: "Object", Typed: true},
			{Name: "user", Title: "Owner", Typed: true},
			{Name: "tenant", Title: "Tenant"},
		},
	}
	if len(p.Tenants) > 1 {
		l.Filters[2].Options = page.Named(p.Tenants)
	}
	return l
}

// relationRows adds the relations that the query requests.
func (h *Handler) relationRows(v *page.Visit, p rules.Project, m *projects.Relations, mayChange bool) error {
	list := relationList(p).Read(v)
	in := contract.RelationList{
		ProjectPath: contract.ProjectPath{Project: p.ID},
		Page:        list.Request(),
		RelationFilter: contract.RelationFilter{
			Tenant: list.Get("tenant"), User: list.Get("user"), Object: list.Get("object"),
		},
		Sort: list.Sorting(),
		Text: list.Get("q"),
	}
	if m.ByTenant && in.Sort == "" {
		in.Sort = "object" // the usual order is by tenant
	}
	found, err := h.Relations.List(v.Ctx(), v.Who, in)
	if wrong, ok := page.ErrorsIn(err); ok {
		m.List, m.Wrong = page.ListView(list, found), wrong.Rest()
		return nil
	}
	if err != nil {
		return err
	}
	m.List = page.ListView(list, found)
	for _, r := range found.Items {
		row := projects.RelationRow{Object: r.Object, User: r.User, Tenant: r.Tenant, Since: r.CreatedAt}
		if _, err := models.ParseID("usr", r.User); err == nil {
			row.UserURL = page.UserPath(r.User)
		} else if in.User == "" {
			row.AllURL = list.With("user", r.User)
		}
		if mayChange {
			row.ForgetURL = forgetPath(p, contract.RelationFilter{Tenant: r.Tenant, Object: r.Object, User: r.User})
		}
		m.Rows = append(m.Rows, row)
	}
	return nil
}

// relationMisses lists what rules of all versions could not remember or forget.
func (h *Handler) relationMisses(v *page.Visit, p rules.Project) ([]projects.RelationMiss, error) {
	var out []projects.RelationMiss
	for _, version := range p.Versions {
		if !version.Rules.NamesObjects() {
			continue
		}
		of := contract.VersionPath{ProjectPath: contract.ProjectPath{Project: p.ID}, Version: version.ID}
		missed, err := h.Usage.RelationMisses(v.Ctx(), v.Who, of)
		if err != nil {
			return nil, err
		}
		if len(missed.Items) == 0 {
			continue
		}
		found, err := h.Projects.Rules(v.Ctx(), v.Who, of)
		if err != nil {
			return nil, err
		}
		routes := map[string]string{}
		for _, rule := range found.List {
			routes[rule.ID] = strings.Join(rule.Methods, ", ") + " " + rule.Path
		}
		for _, one := range missed.Items {
			out = append(out, projects.RelationMiss{
				Route:    routes[one.Rule],
				Version:  version.Name,
				RulesURL: rulesPath(p, version.ID),
				Answers:  page.CountText(one.Calls, "response"),
				Reason:   missText(one.Reason),
				Last:     one.LastAt,
			})
		}
	}
	return out, nil
}

func (h *Handler) addRelation(v *page.Visit) (web.Answer, error) {
	typed := contract.NewRelation{
		Tenant: v.Posted("tenant"),
		User:   strings.TrimSpace(v.Posted("user")),
		Object: strings.TrimSpace(v.Posted("object")),
	}
	added, err := h.Relations.Add(v.Ctx(), v.Who, contract.RelationsOf(v.Param("project"), typed))
	if err == nil && added.Added == 0 {
		return v.Done("relation_exists", page.ProjectPath(v.Param("project"))+"/relations", typed.User, typed.Object)
	}
	if err == nil {
		return v.Done("relation_made", page.ProjectPath(v.Param("project"))+"/relations", typed.User, typed.Object)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.relationsWith(v, func(m *projects.Relations) {
		if m.Add == nil {
			return
		}
		m.Add.Open = true
		m.Add.Object = wrong.Value("/object", typed.Object)
		m.Add.User = wrong.Value("/user", typed.User)
		page.Choose(m.Add.Tenants, typed.Tenant)
		m.Add.Error = wrong.Rest()
	}, wrong.Status)
}

// importRelations adds the relations of a posted file. To send it again is harmless.
func (h *Handler) importRelations(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	file, err := postedFile(v.Gin.Request)
	if err == nil {
		var sum contract.AddedRelations
		if sum, err = h.Relations.Import(v.Ctx(), v.Who, p.ID, relations.NewReader(file)); err == nil {
			return v.Done(importedFlash(sum), relationsPath(p))
		}
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		err = fault.InvalidField("/file", "too_large", "The file is larger than 5 MB. Use `postern relations import`.")
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.relationsWith(v, func(m *projects.Relations) {
		if m.Import != nil {
			m.Import.Open, m.Import.Error = true, importProblem(wrong)
		}
	}, wrong.Status)
}

func importedFlash(sum contract.AddedRelations) string {
	switch {
	case sum.Added == 0:
		return "relations_exist"
	case sum.Existing == 0:
		return "relations_made"
	}
	return "relations_some_made"
}

// importProblem says what is wrong with the first relation that was refused.
func importProblem(wrong *page.Errors) string {
	if len(wrong.Fields) == 0 {
		return wrong.Rest()
	}
	first := wrong.Fields[0]
	number, _, _ := strings.Cut(strings.TrimPrefix(first.Pointer, "/"), "/")
	if n, err := strconv.Atoi(number); err == nil {
		return "Owner " + strconv.Itoa(n+1) + " in the file: " + first.Detail
	}
	return first.Detail
}

// postedFile returns the field file of a form that has nothing else.
func postedFile(r *http.Request) (io.Reader, error) {
	none := fault.InvalidField("/file", "no_file", "Choose a file.")
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, none
	}
	part, err := parts.NextPart()
	if errors.Is(err, io.EOF) {
		return nil, none
	}
	if err != nil {
		return nil, fault.New(fault.Malformed, "malformed", "The form couldn't be read.").Because(err)
	}
	if part.FormName() != "file" {
		return nil, fault.New(fault.Malformed, "malformed", "The form couldn't be read because a field is unknown.")
	}
	return http.MaxBytesReader(nil, io.NopCloser(onlyPart{part, parts}), filelimits.RelationsSize.Most), nil
}

// onlyPart reads a part of a form, and refuses the form if another one follows.
type onlyPart struct {
	part  io.Reader
	parts *multipart.Reader
}

func (r onlyPart) Read(b []byte) (int, error) {
	n, err := r.part.Read(b)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if _, more := r.parts.NextPart(); !errors.Is(more, io.EOF) {
		err = fault.New(fault.Malformed, "malformed", "The form couldn't be read because it has extra fields after "+
			"the file.")
	}
	return n, err
}

func (h *Handler) showForgetRelation(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	return h.forgetRelationWith(v, p, relationNamed(v.Gin.Query), &page.Errors{})
}

func relationNamed(field func(string) string) contract.RelationFilter {
	return contract.RelationFilter{Tenant: field("tenant"), Object: field("object"), User: field("user")}
}

// forgetRelationWith asks before a relation is forgotten, or says that it does not exist.
func (h *Handler) forgetRelationWith(
	v *page.Visit, p rules.Project, f contract.RelationFilter, wrong *page.Errors,
) (web.Answer, error) {
	if f.Object == "" || f.User == "" {
		return web.Answer{}, web.NotFound()
	}
	found, err := h.Relations.List(v.Ctx(), v.Who, contract.RelationList{
		ProjectPath: contract.ProjectPath{Project: p.ID}, Page: contract.Page{Limit: 1}, RelationFilter: f,
	})
	if _, ok := page.ErrorsIn(err); ok {
		err = web.NotFound()
	}
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	m := projects.Relation{
		Page: v.Shell("Remove the owner of "+f.Object, forgetPath(p, f), page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Object owners", URL: relationsPath(p)}, ui.Crumb{Text: f.Object}),
		Object:  f.Object,
		BackURL: relationsPath(p),
	}
	for _, r := range found.Items {
		m.Facts = []ui.Fact{
			{Label: "Object", Value: r.Object, Mono: true},
			{Label: "Owner", Value: r.User, Mono: true},
			{Label: "Tenant", Value: r.Tenant},
			{Label: "Recorded", Time: r.CreatedAt},
		}
		if v.MayChange(p, access.ProjectUpdate) {
			m.Forget = &ui.Confirmation{
				ID:     "relation-forget",
				Action: relationsPath(p) + "/forget",
				Hidden: []ui.Hidden{
					{Name: "tenant", Value: r.Tenant}, {Name: "object", Value: r.Object}, {Name: "user", Value: r.User},
				},
				Verb: "Remove",
				Kind: "owner",
				Name: r.User,
				Tick: "Remove " + r.User + " as the owner of " + r.Object,
				Impact: []string{
					"Starting with the next call, rules that require the owner will refuse this caller's calls to " +
						"the object.",
				},
				Undo: "You can add the owner again.",
			}
			v.Mark(m.Forget, wrong)
		}
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.RelationPage(m)}, nil
}

func (h *Handler) forgetRelation(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	f := relationNamed(v.Posted)
	if f.Object == "" || f.User == "" {
		return web.Answer{}, web.NotFound()
	}
	if err = v.Confirmed("Check the box to remove the owner."); err == nil {
		_, err = h.Relations.Remove(v.Ctx(), v.Who, contract.RelationRemoval{
			ProjectPath: contract.ProjectPath{Project: p.ID}, RelationFilter: f,
		})
	}
	if err == nil {
		return v.Done("relation_gone", relationsPath(p), f.User, f.Object)
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.forgetRelationWith(v, p, f, wrong)
	}
	return web.Answer{}, err
}
