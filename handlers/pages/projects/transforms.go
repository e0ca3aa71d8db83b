package projects

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

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

func transformsPath(p rules.Project, version string) string {
	return page.ProjectPath(p.Name) + "/versions/" + version + "/transforms"
}

func (h *Handler) showTransforms(v *page.Visit) (web.Answer, error) {
	return h.transformsWith(v, func(*projects.TransformsForm) {}, http.StatusOK)
}

// transformsWith shows the transforms of a version with what mark adds to the form.
func (h *Handler) transformsWith(v *page.Visit, mark func(*projects.TransformsForm), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, err := h.Projects.Transforms(v.Ctx(), v.Who, versionIn(v, p))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	version, transforms := versionName(p, v.Param("version")), snapshot.TransformsOf(found.Transforms)
	path := transformsPath(p, v.Param("version"))
	title := "Transforms for " + version
	m := projects.Transforms{
		Page:    v.Shell(title, path, page.ProjectsCrumb(), page.ProjectCrumb(p), ui.Crumb{Text: "Transforms"}),
		Version: version,
	}
	var text []string
	eachChange(&transforms, func(place changePlace) {
		for i, entry := range *place.list {
			name, value := policy.SplitChange(entry)
			kind := ""
			if place.types != nil {
				kind = snapshot.TypeAt(*place.types, i)
			}
			if kind == snapshot.JSONString {
				kind = ""
			}
			m.Rows = append(m.Rows, projects.TransformRow{
				Direction: place.what,
				Operation: place.operation,
				Header:    name,
				Value:     value,
				Type:      kind,
			})
			text = append(text, changeLine(place, kind, name, value))
		}
	})
	if v.MayChange(p, access.ProjectUpdate) {
		m.Form = &projects.TransformsForm{
			Action:   path,
			Revision: found.ETag,
			Lines:    ui.Value{Text: strings.Join(text, "\n")},
		}
		mark(m.Form)
	}
	return web.Answer{Status: status, Page: projects.TransformsPage(m)}, nil
}

// versionName is the name of a version that exists, by its name or id.
func versionName(p rules.Project, ref string) string {
	i := slices.IndexFunc(p.Versions, func(v rules.Version) bool { return v.ID == ref })
	if i < 0 {
		return ref
	}
	return p.Versions[i].Name
}

func changeLine(place changePlace, kind, name, value string) string {
	if kind != "" {
		name = kind + " " + name
	}
	if value != "" {
		name += ": " + value
	}
	return place.what + " " + place.operation + " " + name
}

// changePlace is an operation on a part of a message, with its entries.
type changePlace struct {
	what, operation string
	pointer         string // of the list
	list            *[]string
	types           *[]string // of the values; nil: all are strings
}

// eachChange visits the operations on all parts in the order in which they are applied.
func eachChange(of *snapshot.Transforms, visit func(changePlace)) {
	kinds := &of.ResponseBody.Types
	for _, one := range []struct {
		what, direction, list string
		changes               *snapshot.Changes
		types                 *snapshot.ChangeTypes
	}{
		{"request", "request", "headers", &of.Request, nil},
		{"query", "request", "query", &of.Query, nil},
		{"request-body", "request", "body", &of.RequestBody, nil},
		{"response", "response", "headers", &of.Response, nil},
		{"response-body", "response", "body", &of.ResponseBody.Changes, kinds},
	} {
		at := func(operation string, list, types *[]string) {
			if one.types == nil {
				types = nil
			}
			visit(changePlace{one.what, operation, "/" + one.direction + "/" + operation + "/" + one.list, list, types})
		}
		at("remove", &one.changes.Remove, nil)
		at("rename", &one.changes.Rename, nil)
		at("replace", &one.changes.Replace, &kinds.Replace)
		at("add", &one.changes.Add, &kinds.Add)
		at("append", &one.changes.Append, &kinds.Append)
	}
}

// add adds the entry of a line of the form, which may begin with the type of its value: no name has a
// space.
func (p changePlace) add(entry string) (pointer string) {
	pointer = fmt.Sprintf("%s/%d", p.pointer, len(*p.list))
	if p.types != nil {
		kind, rest, _ := strings.Cut(entry, " ")
		switch kind {
		case snapshot.JSONNumber, snapshot.JSONBoolean, snapshot.JSONString:
			entry = rest
		default:
			kind = snapshot.JSONString
		}
		*p.types = append(*p.types, kind)
	}
	*p.list = append(*p.list, entry)
	return pointer
}

// readTransformLines reads the changes of the form, and the line of each.
func readTransformLines(text string) (out snapshot.Transforms, lines []page.PlacedLine, wrong string) {
	for number, line := range page.NumberedLines(text) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		operation, entry, _ := strings.Cut(strings.TrimSpace(rest), " ")
		known := false
		eachChange(&out, func(place changePlace) {
			if strings.EqualFold(place.what, what) && strings.EqualFold(place.operation, operation) && entry != "" {
				pointer := place.add(entry)
				typed := strings.Replace(pointer, "/body/", "/body_types/", 1)
				pointers := slices.Compact([]string{pointer, typed})
				lines, known = append(lines, page.PlacedLine{Number: number, Pointers: pointers}), true
			}
		})
		if !known {
			return out, lines, page.LineMistake(number, "Start with request, query, request-body, response or "+
				"response-body, then remove, rename, replace, add or append, then the name. Example: request add "+
				"X-Source: shop.")
		}
	}
	return out, lines, ""
}

func (h *Handler) saveTransforms(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	revision, text := v.Posted("revision"), v.Posted("transforms")
	shown := func(problem, general string, status int) (web.Answer, error) {
		return h.transformsWith(v, func(f *projects.TransformsForm) {
			f.Revision, f.Lines, f.Error = revision, ui.Value{Text: text, Error: problem}, general
		}, status)
	}
	change, lines, wrong := readTransformLines(text)
	if wrong != "" {
		return shown(wrong, "", http.StatusUnprocessableEntity)
	}
	_, err = h.Projects.SetTransforms(v.Ctx(), v.Who, contract.TransformsUpdate{
		VersionPath: versionIn(v, p), Condition: contract.Condition{IfMatch: revision}, Body: change.Stated(),
	})
	switch {
	case err == nil:
		return v.Done("transforms", transformsPath(p, v.Param("version")), p.DisplayName)
	case fault.KindOf(err) == fault.Stale:
		now, err := h.Projects.Transforms(v.Ctx(), v.Who, versionIn(v, p))
		if err != nil {
			return web.Answer{}, err
		}
		revision = now.ETag
		return shown("", "The transforms have changed since you opened this page. The list above shows the current "+
			"transforms. To replace them with yours, save again.", http.StatusPreconditionFailed)
	}
	found, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return shown(found.TakePlaced(lines), found.Rest(), found.Status)
}
