package pages

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"postern/core/snapshot"
	"postern/handlers/pages/ascode"
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
		c.table = ascode.NewTable(codeReaders)
	})
	return c.api, c.table, c.err
}

// The ids of lines begin with where they are shown: in the drawer of the page, or below the panel in a dialog.
const (
	inDrawer = "as-code"
	inPanel  = "panel-code"
)

// code returns the lines of a page and of the forms on it, each kind of form once. Where htmx takes a part of the
// answer, it takes at most what the page shows, for another state of a list: forms can be edited meanwhile, and their
// lines follow them.
func (v *visit) code(path string, rendered []byte) ui.Code {
	if isPart(v.c.Request) {
		rendered = nil
	}
	return v.codeIn(inDrawer, path, rendered)
}

// panelCode returns the lines of the panel that a dialog takes.
func (v *visit) panelCode(rendered []byte) ui.Code {
	return v.codeIn(inPanel, v.c.Request.URL.EscapedPath(), rendered)
}

func (v *visit) codeIn(place, path string, rendered []byte) ui.Code {
	api, table, err := v.server.codeOf()
	if err != nil {
		v.server.Web.LogCause(v.ctx(), fmt.Errorf("write a page as code: %w", err))
		return ui.Code{None: "The commands couldn't be generated."}
	}
	page, params := table.Page(path)
	out := ui.Code{Server: api.Server(), None: page.None}
	query := url.Values{}
	if v.c.Request.Method != http.MethodPost {
		query = v.c.Request.URL.Query()
	}
	for i, call := range page.Reads {
		lines := api.Write(call, params, v.inTeam(params, query))
		out.Reads = append(out.Reads, codeCall(fmt.Sprintf("%s-read-%d", place, i), lines))
	}
	seen := map[string]bool{}
	for _, form := range ascode.ReadForms(rendered) {
		call, ok := table.Form(form.Action, form.Values)
		if ok && !seen[call.Kind] {
			seen[call.Kind] = true
			out.Forms = append(out.Forms, v.codeOfForm(api, place, call, form.Values))
		}
	}
	return out
}

// withCode has the page that answers a visit show its code: below the panel that a dialog takes, in the drawer of any
// other page.
func (v *visit) withCode() context.Context {
	reads := v.c.Request.Method == http.MethodGet
	switch {
	case v.account == nil || !reads && isPart(v.c.Request):
		return v.ctx()
	case reads && v.c.GetHeader("HX-Target") == ui.DialogBody:
		return ui.WithPanelCode(v.ctx(), v.panelCode)
	}
	return ui.WithCode(v.ctx(), v.code)
}

// isPart reports whether htmx takes a part of the answer.
func isPart(r *http.Request) bool { return r.Header.Get("HX-Request") != "" }

// inTeam adds the chosen team, which is where what has no other team is created.
func (v *visit) inTeam(params map[string]string, values url.Values) url.Values {
	if _, of := params["team"]; !of && !values.Has("team") && v.who.HomeTeam != "" {
		values.Set("team", v.who.HomeTeam)
	}
	return values
}

// codeOfForm returns the lines of a form with these values.
func (v *visit) codeOfForm(api *ascode.API, place string, call ascode.FormCall, values url.Values) ui.CodeCall {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(call.Kind)) // a hash takes everything
	lines := api.Write(call.Call, call.Params, v.inTeam(call.Params, values))
	return codeCall(fmt.Sprintf("%s-%08x", place, sum.Sum32()), lines)
}

func codeCall(id string, lines ascode.Lines) ui.CodeCall {
	return ui.CodeCall{ID: id, Title: lines.Title, Curl: lines.Curl, CLI: lines.CLI, Note: lines.Note}
}

// showCode answers with the lines of the form in the query, with the values that are posted; in is where.
// Nothing is changed: the values come from a form that is not sent yet.
func (h *Handler) showCode(v *visit) (web.Answer, error) {
	api, table, err := h.codeOf()
	if err != nil {
		return web.Answer{}, err
	}
	values := v.c.Request.PostForm
	call, ok := table.Form(v.c.Query("form"), values)
	if !ok {
		v.c.Status(http.StatusNoContent)
		return web.Answer{}, nil
	}
	place := inDrawer
	if v.c.Query("in") == inPanel {
		place = inPanel
	}
	return web.Show(ui.CodeLines(v.codeOfForm(api, place, call, values))), nil
}

// codeReaders read the fields that have a syntax of their own.
var codeReaders = ascode.Readers{
	Rules: func(text string) any {
		list, _ := readRuleLines(text, nil)
		out := []*ascode.Object{}
		for _, rule := range list {
			out = append(out, ruleObject(rule))
		}
		return out
	},
	Transforms: func(text string) any {
		changes, _, _ := readTransformLines(text)
		return transformsObject(changes)
	},
	Issuers: func(form url.Values) (any, []string) {
		out, lines := []*ascode.Object{}, []string{}
		for _, pair := range kept(postedIssuers(form)) {
			one := &ascode.Object{}
			one.Set("iss", pair.Issuer)
			one.Set("aud", pair.Audience)
			setText(one, "jwks_url", pair.JWKSURL)
			setText(one, "tenant", pair.Tenant)
			out, lines = append(out, one), append(lines, pair.Line())
		}
		return out, lines
	},
	Endpoint: func(form url.Values) (*ascode.Object, string) {
		typed := postedIntrospection(form)
		out := &ascode.Object{}
		out.Set("endpoint", typed.Endpoint)
		setText(out, "method", string(typed.Method))
		setText(out, "client_id", typed.ClientID)
		if form.Get("introspection_secret") != "" {
			out.Set("client_secret", ascode.Placeholder("introspection_secret"))
		}
		setText(out, "iss", typed.Issuer)
		setText(out, "aud", typed.Audience)
		return out, typed.line()
	},
	Usage: func(query url.Values) (time.Time, []string) {
		shown, by := chosenUsage(query)
		return shown.from(time.Now()), by.by
	},
}

func setText(o *ascode.Object, name, text string) {
	if text != "" {
		o.Set(name, text)
	}
}

func ruleObject(rule snapshot.Rule) *ascode.Object {
	out := &ascode.Object{}
	out.Set("methods", rule.Methods)
	out.Set("path", rule.Path)
	if len(rule.Scopes) > 0 {
		out.Set("scopes", rule.Scopes)
	}
	if len(rule.Groups) > 0 {
		out.Set("groups", rule.Groups)
	}
	setText(out, "role", rule.Role)
	setText(out, "owner", rule.Owner)
	setText(out, "remember", rule.Remember)
	setText(out, "forget", rule.Forget)
	setText(out, "mode", string(rule.Mode))
	return out
}

func transformsObject(changes snapshot.Transforms) *ascode.Object {
	out := &ascode.Object{}
	eachChange(&changes, func(place changePlace) {
		member := strings.ReplaceAll(strings.TrimPrefix(place.pointer, "/"), "/", ".")
		out.Set(member, append([]string{}, *place.list...))
		if place.types != nil {
			out.Set(member+"_types", append([]string{}, *place.types...))
		}
	})
	return out
}
