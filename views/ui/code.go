package ui

import (
	"bytes"
	"context"
	"io"

	"github.com/a-h/templ"
)

// Code is the shell commands for what a page shows and what its forms do.
type Code struct {
	Server string // URL of the control plane
	Reads  []CodeCall
	Forms  []CodeCall
	None   string // why there is neither
}

// CodeReads selects what the drawer says that a page shows, which a list replaces together with its rows.
const CodeReads = "#as-code-reads"

// settings are the variables that the lines need.
func (c Code) settings() string {
	return "export POSTERN_SERVER=" + c.Server + "\nexport POSTERN_TOKEN=…"
}

// CodeCall is one call in two ways; an empty one does not exist.
type CodeCall struct {
	ID    string // unique on the page
	Title string
	Curl  string
	CLI   string
	Note  string
}

// CodeFunc returns the code of the page at a path, whose forms are in what was rendered.
type CodeFunc func(path string, rendered []byte) Code

type codeKey struct{}

// WithCode sets how a page gets its code. Pages without it do not offer any.
func WithCode(ctx context.Context, code CodeFunc) context.Context {
	return context.WithValue(ctx, codeKey{}, code)
}

// DialogBody is the id of the element into which DialogLink puts a panel. htmx sends it as HX-Target.
const DialogBody = "dialog-body"

// PanelCodeFunc returns the code of the panel that a dialog takes, whose forms are in what was rendered.
type PanelCodeFunc func(rendered []byte) Code

type panelCodeKey struct{}

// WithPanelCode sets how the panel that a dialog takes gets its code, which is below it there. The drawer with the
// page's code is behind the dialog.
func WithPanelCode(ctx context.Context, code PanelCodeFunc) context.Context {
	return context.WithValue(ctx, panelCodeKey{}, code)
}

func panelCodeOf(ctx context.Context) PanelCodeFunc {
	code, _ := ctx.Value(panelCodeKey{}).(PanelCodeFunc)
	return code
}

func codeOf(ctx context.Context) CodeFunc {
	code, _ := ctx.Value(codeKey{}).(CodeFunc)
	return code
}

// narrowCode returns the code of a page without a bar, or nil if it shows no code: a page for people
// who are not signed in, or an error.
func (p Page) narrowCode(ctx context.Context, rendered []byte) *Code {
	write := codeOf(ctx)
	if write == nil || p.Account == nil {
		return nil
	}
	code := write(p.path(), rendered)
	if len(code.Reads)+len(code.Forms) == 0 && code.None == "" {
		return nil
	}
	return &code
}

// recorded renders its children, and keeps what it rendered.
func recorded(into *bytes.Buffer) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		children := templ.GetChildren(ctx)
		return children.Render(templ.ClearChildren(ctx), io.MultiWriter(w, into))
	})
}
