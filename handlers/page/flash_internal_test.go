package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// indirect are the flashes that a helper passes on, with how many names it adds.
var indirect = map[string]int{"DoneUndo": 0, "changeKey": 2, "saved": 1, "domainChanged": 1, "callSigningChanged": 1}

// TestFlashes_names compares the text of each flash with the calls that lead to it: a flash
// with another number of names is never shown.
func TestFlashes_names(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"../pages/*.go", "../pages/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	used := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name, flash, names := flashIn(call)
			if flash == "" {
				return true
			}
			used++
			text, ok := flashes[flash]
			if !ok {
				t.Errorf("%s: no flash is called %q", name, flash)
			}
			if want := strings.Count(text, "%s"); names != want {
				t.Errorf("%s(%q) passes %d names, its text has %d", name, flash, names, want)
			}
			return true
		})
	}
	if used < 90 {
		t.Errorf("found %d calls, want all", used)
	}
}

// flashIn returns the flash that a call leads to and how many names it passes; "" for other calls.
func flashIn(call *ast.CallExpr) (name, flash string, names int) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", "", 0
	}
	name = method.Sel.Name
	at := map[string]int{"changeKey": 1, "saved": 2, "domainChanged": 2, "callSigningChanged": 2}[name]
	passed, known := indirect[name]
	switch {
	case name == "Done":
		passed = len(call.Args) - 2
	case name == "DoneUndo":
		passed = len(call.Args) - 3
	case !known:
		return name, "", 0
	}
	literal, ok := call.Args[at].(*ast.BasicLit)
	if !ok {
		return name, "", 0
	}
	flash, _ = strconv.Unquote(literal.Value)
	return name, flash, passed
}

func TestReadFlash(t *testing.T) {
	t.Parallel()
	named := flashCookie("session", "frozen", flashDetails{Names: []string{"sk_1…9x", "ana"}, Undo: "/unfreeze"})
	for _, tt := range []struct{ name, session, cookie, want string }{
		{"plain", "", "claimed", flashes["claimed"]},
		{"named", "session", named, "Key sk_1…9x for ana is frozen. Calls that use it get 403 until you unfreeze it."},
		{"other session", "other", named, ""},
		{"signed out", "", named, ""},
		{"other flash", "session", strings.Replace(named, "frozen", "revoked", 1), ""},
		{"forged", "session", named[:len(named)-1], ""},
		{"without its names", "session", "frozen", ""},
		{"unknown", "session", "nothing", ""},
		{"name with a period", "session", flashCookie("session", "product_gone", flashDetails{
			Names: []string{"Acme Inc."},
		}), "Deleted the product Acme Inc."},
		{"long name", "session", flashCookie("session", "user_gone", flashDetails{
			Names: []string{strings.Repeat("ä", 5000)},
		}), "Deleted " + strings.Repeat("ä", longestName) + "…."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := readFlash(tt.session, tt.cookie)
			if got.Text != tt.want || ok != (tt.want != "") {
				t.Errorf("read %q, %v, want %q", got.Text, ok, tt.want)
			}
			if len(tt.cookie) > 2000 {
				t.Errorf("the cookie has %d bytes", len(tt.cookie))
			}
		})
	}
}
