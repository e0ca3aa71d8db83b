package pages

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"sync"

	"postern/handlers/page"
	"postern/handlers/pages/ascode"
	"postern/handlers/pages/calls"
	"postern/handlers/pages/projects"
	"postern/handlers/web"
	"postern/views/ui"
)

// codePath is where a page's script asks for the lines of a form that is being filled in.
const codePath = "/as-code"

// codeWriter writes the lines for a shell that do what pages and forms do.
type codeWriter struct {
	once  sync.Once
	api   *ascode.API
	table ascode.Table
	err   error
}

func (h *Handler) codeOf() (*ascode.API, ascode.Table, error) {
	c := &h.code
	c.once.Do(func() {
		var outline []byte
		if outline, c.err = h.Outline(); c.err != nil {
			return
		}
		c.api, c.err = ascode.New(outline, h.Web.Config.PublicURL)
		readers := projects.CodeReaders
		readers.Usage = calls.UsageForCode
		c.table = ascode.NewTable(readers)
	})
	return c.api, c.table, c.err
}

// The ids of lines begin with where they are shown: in the drawer of the page, or below the panel in a dialog.
const (
	inDrawer = "as-code"
	inPanel  = "panel-code"
)

// codeOfPage returns the lines of a page and of the forms on it, each kind of form once. If htmx takes a part of the
// answer, it takes at most what the page shows, for another state of a list: forms can be edited in between, and their
// lines follow them.
func (h *Handler) codeOfPage(v *page.Visit, path string, rendered []byte) ui.Code {
	if isPart(v.Gin.Request) {
		rendered = nil
	}
	return h.codeIn(v, inDrawer, path, rendered)
}

func (h *Handler) codeIn(v *page.Visit, place, path string, rendered []byte) ui.Code {
	api, table, err := h.codeOf()
	if err != nil {
		h.Web.LogCause(v.Ctx(), fmt.Errorf("write a page as code: %w", err))
		return ui.Code{None: "The commands couldn't be generated."}
	}
	page, params := table.Page(path)
	out := ui.Code{Server: api.Server(), None: page.None}
	query := url.Values{}
	if v.Gin.Request.Method != http.MethodPost {
		query = v.Gin.Request.URL.Query()
	}
	for i, call := range page.Reads {
		lines := api.Write(call, params, inTeam(v, params, query))
		out.Reads = append(out.Reads, codeCall(fmt.Sprintf("%s-read-%d", place, i), lines))
	}
	seen := map[string]bool{}
	for _, form := range ascode.ReadForms(rendered) {
		call, ok := table.Form(form.Action, form.Values)
		if ok && !seen[call.Kind] {
			seen[call.Kind] = true
			out.Forms = append(out.Forms, h.codeOfForm(v, api, place, call, form.Values))
		}
	}
	return out
}

// withCode has the page that answers a visit show its code: below the panel that a dialog takes, in the drawer of any
// other page.
func (h *Handler) withCode(v *page.Visit) context.Context {
	reads := v.Gin.Request.Method == http.MethodGet
	switch {
	case v.Account == nil || !reads && isPart(v.Gin.Request):
		return v.Ctx()
	case reads && v.Gin.GetHeader("HX-Target") == ui.DialogBody:
		return ui.WithPanelCode(v.Ctx(), func(rendered []byte) ui.Code {
			return h.codeIn(v, inPanel, v.Gin.Request.URL.EscapedPath(), rendered)
		})
	}
	return ui.WithCode(v.Ctx(), func(path string, rendered []byte) ui.Code { return h.codeOfPage(v, path, rendered) })
}

// isPart reports whether htmx takes a part of the answer.
func isPart(r *http.Request) bool { return r.Header.Get("HX-Request") != "" }

// inTeam adds the chosen team, which is where what has no other team is created.
func inTeam(v *page.Visit, params map[string]string, values url.Values) url.Values {
	if _, of := params["team"]; !of && !values.Has("team") && v.Who.HomeTeam != "" {
		values.Set("team", v.Who.HomeTeam)
	}
	return values
}

// codeOfForm returns the lines of a form with these values.
func (h *Handler) codeOfForm(
	v *page.Visit, api *ascode.API, place string, call ascode.FormCall, values url.Values,
) ui.CodeCall {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(call.Kind)) // a hash takes everything
	lines := api.Write(call.Call, call.Params, inTeam(v, call.Params, values))
	return codeCall(fmt.Sprintf("%s-%08x", place, sum.Sum32()), lines)
}

func codeCall(id string, lines ascode.Lines) ui.CodeCall {
	return ui.CodeCall{ID: id, Title: lines.Title, Curl: lines.Curl, CLI: lines.CLI, Note: lines.Note}
}

// showCode answers with the lines of the form in the query, with the values that are posted; in is where.
// Nothing is changed: the values come from a form that is not sent yet.
func (h *Handler) showCode(v *page.Visit) (web.Answer, error) {
	api, table, err := h.codeOf()
	if err != nil {
		return web.Answer{}, err
	}
	values := v.Gin.Request.PostForm
	call, ok := table.Form(v.Gin.Query("form"), values)
	if !ok {
		v.Gin.Status(http.StatusNoContent)
		return web.Answer{}, nil
	}
	place := inDrawer
	if v.Gin.Query("in") == inPanel {
		place = inPanel
	}
	return web.Show(ui.CodeLines(h.codeOfForm(v, api, place, call, values))), nil
}
