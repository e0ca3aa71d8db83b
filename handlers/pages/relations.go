package pages

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/service/relations"
	"postern/views/projects"
	"postern/views/ui"
)

func relationsPath(p rules.Project) string { return projectPath(p.Name) + "/relations" }

// forgetPath leads to the confirmation that a relation is forgotten. Objects have slashes and escapes, so that they
// are in the query.
func forgetPath(p rules.Project, f contract.RelationFilter) string {
	query := url.Values{"tenant": {f.Tenant}, "object": {f.Object}, "user": {f.User}}
	return relationsPath(p) + "/forget?" + query.Encode()
}

func (h *Handler) showRelations(v *visit) (web.Answer, error) {
	return h.relationsWith(v, func(m *projects.Relations) {
		if m.Add != nil {
			m.Add.Open = v.c.Query("add") == "true"
		}
	}, http.StatusOK)
}

// relationsWith shows who owns which object, with what mark adds to the page.
func (h *Handler) relationsWith(v *visit, mark func(*projects.Relations), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	path := relationsPath(p)
	m := projects.Relations{
		Page: v.shell("Owners of objects", path, projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Owners of objects"}),
		ByTenant: len(p.Tenants) > 1,
		BackURL:  projectPath(p.Name),
	}
	mayChange := v.mayChange(p, access.ProjectUpdate)
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
			m.Add.Tenants = named(p.Tenants)
			choose(m.Add.Tenants, snapshot.DefaultTenant)
		}
	}
	mark(&m)
	return web.Answer{Status: status, Page: projects.RelationsPage(m)}, nil
}

// relationList is what the list of owners can be asked for.
func relationList(p rules.Project) *listing {
	l := &listing{
		path:   relationsPath(p),
		one:    "relation",
		search: "Part of object or owner",
		orders: []listOrder{{by: "object"}, {by: "user"}, {by: "created", desc: true}},
		filters: []listFilter{
			{name: "object", title: "Object", typed: true},
			{name: "user", title: "Owner", typed: true},
			{name: "tenant", title: "Tenant"},
		},
	}
	if len(p.Tenants) > 1 {
		l.filters[2].options = named(p.Tenants)
	}
	return l
}

// relationRows adds the relations that the query asks for.
func (h *Handler) relationRows(v *visit, p rules.Project, m *projects.Relations, mayChange bool) error {
	list := relationList(p).read(v)
	in := contract.RelationList{
		ProjectPath: contract.ProjectPath{Project: p.ID},
		Page:        list.asked(),
		RelationFilter: contract.RelationFilter{
			Tenant: list.get("tenant"), User: list.get("user"), Object: list.get("object"),
		},
		Sort: list.sorting(),
		Text: list.get("q"),
	}
	if m.ByTenant && in.Sort == "" {
		in.Sort = "object" // the usual order is by tenant
	}
	found, err := h.Relations.List(v.ctx(), v.who, in)
	if wrong, ok := formErrorsIn(err); ok {
		m.List, m.Wrong = listView(list, found), wrong.rest()
		return nil
	}
	if err != nil {
		return err
	}
	m.List = listView(list, found)
	for _, r := range found.Items {
		row := projects.RelationRow{Object: r.Object, User: r.User, Tenant: r.Tenant, Since: moment(r.CreatedAt)}
		if _, err := models.ParseID("usr", r.User); err == nil {
			row.UserURL = userPath(r.User)
		} else if in.User == "" {
			row.AllURL = list.with("user", r.User)
		}
		if mayChange {
			row.ForgetURL = forgetPath(p, contract.RelationFilter{Tenant: r.Tenant, Object: r.Object, User: r.User})
		}
		m.Rows = append(m.Rows, row)
	}
	return nil
}

// relationMisses lists what rules of all versions could not remember or forget.
func (h *Handler) relationMisses(v *visit, p rules.Project) ([]projects.RelationMiss, error) {
	var out []projects.RelationMiss
	for _, version := range p.Versions {
		if !version.Rules.NamesObjects() {
			continue
		}
		of := contract.VersionPath{ProjectPath: contract.ProjectPath{Project: p.ID}, Version: version.ID}
		missed, err := h.Usage.RelationMisses(v.ctx(), v.who, of)
		if err != nil {
			return nil, err
		}
		if len(missed.Items) == 0 {
			continue
		}
		found, err := h.Projects.Rules(v.ctx(), v.who, of)
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
				Answers:  english.Plural(int(one.Calls), "answer", ""),
				Reason:   missText(one.Reason),
				Last:     moment(one.LastAt),
			})
		}
	}
	return out, nil
}

func (h *Handler) addRelation(v *visit) (web.Answer, error) {
	typed := contract.NewRelation{
		Tenant: v.posted("tenant"),
		User:   strings.TrimSpace(v.posted("user")),
		Object: strings.TrimSpace(v.posted("object")),
	}
	added, err := h.Relations.Add(v.ctx(), v.who, contract.RelationsOf(v.param("project"), typed))
	if err == nil && added.Added == 0 {
		return v.done("relation_exists", projectPath(v.param("project"))+"/relations", typed.User, typed.Object)
	}
	if err == nil {
		return v.done("relation_made", projectPath(v.param("project"))+"/relations", typed.User, typed.Object)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.relationsWith(v, func(m *projects.Relations) {
		if m.Add == nil {
			return
		}
		m.Add.Open = true
		m.Add.Object = wrong.value("/object", typed.Object)
		m.Add.User = wrong.value("/user", typed.User)
		choose(m.Add.Tenants, typed.Tenant)
		m.Add.Error = wrong.rest()
	}, wrong.status)
}

// importRelations adds the relations of a posted file. To send it again is harmless.
func (h *Handler) importRelations(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	file, err := postedFile(v.c.Request)
	if err == nil {
		var sum contract.AddedRelations
		if sum, err = h.Relations.Import(v.ctx(), v.who, p.ID, relations.NewReader(file)); err == nil {
			return v.done(importedFlash(sum), relationsPath(p))
		}
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		err = fault.InvalidField("/file", "too_large", "The file is larger than 5 MB. Use postern relations import.")
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.relationsWith(v, func(m *projects.Relations) {
		if m.Import != nil {
			m.Import.Open, m.Import.Error = true, importProblem(wrong)
		}
	}, wrong.status)
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
func importProblem(wrong *formErrors) string {
	if len(wrong.fields) == 0 {
		return wrong.rest()
	}
	first := wrong.fields[0]
	number, _, _ := strings.Cut(strings.TrimPrefix(first.Pointer, "/"), "/")
	if n, err := strconv.Atoi(number); err == nil {
		return "Relation " + strconv.Itoa(n+1) + " of the file: " + first.Detail
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
		return nil, fault.New(fault.Malformed, "malformed", "The form could not be read.").Because(err)
	}
	if part.FormName() != "file" {
		return nil, fault.New(fault.Malformed, "malformed", "The form could not be read: a field is unknown.")
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
		err = fault.New(fault.Malformed, "malformed", "The form could not be read: something follows the file.")
	}
	return n, err
}

func (h *Handler) showForgetRelation(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	return h.forgetRelationWith(v, p, relationNamed(v.c.Query), &formErrors{})
}

func relationNamed(field func(string) string) contract.RelationFilter {
	return contract.RelationFilter{Tenant: field("tenant"), Object: field("object"), User: field("user")}
}

// forgetRelationWith asks before a relation is forgotten, or says that it does not exist.
func (h *Handler) forgetRelationWith(
	v *visit, p rules.Project, f contract.RelationFilter, wrong *formErrors,
) (web.Answer, error) {
	if f.Object == "" || f.User == "" {
		return web.Answer{}, web.NotFound()
	}
	found, err := h.Relations.List(v.ctx(), v.who, contract.RelationList{
		ProjectPath: contract.ProjectPath{Project: p.ID}, Page: contract.Page{Limit: 1}, RelationFilter: f,
	})
	if _, ok := formErrorsIn(err); ok {
		err = web.NotFound()
	}
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	m := projects.Relation{
		Page: v.shell("Forget the owner of "+f.Object, forgetPath(p, f), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Owners of objects", URL: relationsPath(p)}, ui.Crumb{Text: f.Object}),
		Object:  f.Object,
		BackURL: relationsPath(p),
	}
	for _, r := range found.Items {
		m.Facts = []ui.Fact{
			{Label: "Object", Value: r.Object, Mono: true},
			{Label: "Owner", Value: r.User, Mono: true},
			{Label: "Tenant", Value: r.Tenant},
			{Label: "Since", Value: moment(r.CreatedAt)},
		}
		if v.mayChange(p, access.ProjectUpdate) {
			m.Forget = &ui.Confirmation{
				ID:     "relation-forget",
				Action: relationsPath(p) + "/forget",
				Hidden: []ui.Hidden{
					{Name: "tenant", Value: r.Tenant}, {Name: "object", Value: r.Object}, {Name: "user", Value: r.User},
				},
				Verb: "Forget",
				Kind: "owner",
				Name: r.User,
				Tick: "Forget that " + r.User + " owns " + r.Object,
				Impact: []string{
					"Their calls to it are refused where a rule asks for the owner, from the next call on.",
				},
				Undo: "You can add the owner again.",
			}
			v.mark(m.Forget, wrong)
		}
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.RelationPage(m)}, nil
}

func (h *Handler) forgetRelation(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	f := relationNamed(v.posted)
	if f.Object == "" || f.User == "" {
		return web.Answer{}, web.NotFound()
	}
	if err = v.confirmed("Tick the box to forget the owner."); err == nil {
		_, err = h.Relations.Remove(v.ctx(), v.who, contract.RelationRemoval{
			ProjectPath: contract.ProjectPath{Project: p.ID}, RelationFilter: f,
		})
	}
	if err == nil {
		return v.done("relation_gone", relationsPath(p), f.User, f.Object)
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.forgetRelationWith(v, p, f, wrong)
	}
	return web.Answer{}, err
}
