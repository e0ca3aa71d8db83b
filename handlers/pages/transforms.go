package pages

import (
	"fmt"
	"net/http"
	"strings"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func transformsPath(p rules.Project, version string) string {
	return projectPath(p.Name) + "/versions/" + version + "/transforms"
}

func (h *Handler) showTransforms(v *visit) (web.Answer, error) {
	return h.transformsWith(v, func(*projects.TransformsForm) {}, http.StatusOK)
}

// transformsWith shows the transforms of a version with what mark adds to the form.
func (h *Handler) transformsWith(v *visit, mark func(*projects.TransformsForm), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, err := h.Projects.Transforms(v.ctx(), v.who, p.ID, v.param("version"))
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	path := transformsPath(p, v.param("version"))
	title := "Transforms of " + found.Version
	m := projects.Transforms{
		Page:    v.shell(title, path, projectsCrumb(), projectCrumb(p), ui.Crumb{Text: title}),
		Version: found.Version,
		BackURL: projectPath(p.Name),
	}
	var text []string
	eachChange(&found.Transforms, func(direction, operation string, list *[]string) {
		for _, entry := range *list {
			name, value := policy.SplitChange(entry)
			m.Rows = append(m.Rows, projects.TransformRow{
				Direction: direction,
				Operation: operation,
				Header:    name,
				Value:     value,
			})
			text = append(text, changeLine(direction, operation, name, value))
		}
	})
	if v.mayChange(p, access.ProjectUpdate) {
		m.Form = &projects.TransformsForm{
			Action:   path,
			Revision: found.ETag,
			Lines:    ui.Value{Text: strings.Join(text, "\n")},
		}
		mark(m.Form)
	}
	return web.Answer{Status: status, Page: projects.TransformsPage(m)}, nil
}

func changeLine(direction, operation, name, value string) string {
	if value != "" {
		name += ": " + value
	}
	return direction + " " + operation + " " + name
}

// eachChange visits the operations of both directions in the order in which they are applied.
func eachChange(of *snapshot.Transforms, visit func(direction, operation string, list *[]string)) {
	for _, one := range []struct {
		direction string
		changes   *snapshot.Changes
	}{{"request", &of.Request}, {"query", &of.Query}, {"response", &of.Response}} {
		visit(one.direction, "remove", &one.changes.Remove)
		visit(one.direction, "rename", &one.changes.Rename)
		visit(one.direction, "replace", &one.changes.Replace)
		visit(one.direction, "add", &one.changes.Add)
		visit(one.direction, "append", &one.changes.Append)
	}
}

// readTransformLines reads the changes of the form. at has the pointer of each line's entry.
func readTransformLines(text string) (out snapshot.Transforms, at []string, wrong string) {
	for n, line := range lines(text) {
		direction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		operation, entry, _ := strings.Cut(strings.TrimSpace(rest), " ")
		known := false
		eachChange(&out, func(d, o string, list *[]string) {
			if strings.EqualFold(d, direction) && strings.EqualFold(o, operation) && entry != "" {
				place := d + "/" + o + "/headers"
				if d == "query" {
					place = "request/" + o + "/query"
				}
				at = append(at, fmt.Sprintf("/%s/%d", place, len(*list)))
				*list, known = append(*list, entry), true
			}
		})
		if !known {
			return out, at, fmt.Sprintf("Line %d: begin with request, query or response, then remove, rename, replace, "+
				"add or append, then the name, such as: request add X-Source: shop.", n+1)
		}
	}
	return out, at, ""
}

func (h *Handler) saveTransforms(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	revision, text := v.posted("revision"), v.posted("transforms")
	shown := func(problem, general string, status int) (web.Answer, error) {
		return h.transformsWith(v, func(f *projects.TransformsForm) {
			f.Revision, f.Lines, f.Error = revision, ui.Value{Text: text, Error: problem}, general
		}, status)
	}
	change, at, wrong := readTransformLines(text)
	if wrong != "" {
		return shown(wrong, "", http.StatusUnprocessableEntity)
	}
	_, err = h.Projects.SetTransforms(v.ctx(), v.who, p.ID, v.param("version"), revision, change)
	switch {
	case err == nil:
		return v.done("transforms", transformsPath(p, v.param("version")))
	case fault.KindOf(err) == fault.Stale:
		now, err := h.Projects.Transforms(v.ctx(), v.who, p.ID, v.param("version"))
		if err != nil {
			return web.Answer{}, err
		}
		revision = now.ETag
		return shown("", "The transforms were changed since you opened this page. The list above is how they are now; "+
			"save again to replace them with yours.", http.StatusPreconditionFailed)
	}
	found, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	var wrongLines []string
	for n, pointer := range at {
		if detail := found.take(pointer); detail != "" {
			wrongLines = append(wrongLines, fmt.Sprintf("Line %d: %s", n+1, detail))
		}
	}
	return shown(strings.Join(wrongLines, " "), found.rest(), found.status)
}
