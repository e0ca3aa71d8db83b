package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want string // "line word", joined
	}{
		"fine":                    {"It is not a number. There is no key, and the other is no longer valid.", ""},
		"a phrase":                {"one\nThis is no number.", "2 is no"},
		"at the start":            {"Nobody knows.", "1 nobody"},
		"each word":               {"beside it\nlikewise, whom it has none", "1 beside|2 has none|2 whom|2 likewise"},
		"broken in a comment":     {"// this is\n// no number", "1 is no"},
		"broken in a script":      {"  # it tells\n  # whether", "1 tells whether"},
		"broken in a query":       {"-- it has\n-- not the right", "1 has not the"},
		"broken, and fine":        {"// there is\n// no number\n// it is no\n// longer", ""},
		"after a fine one":        {"there is\nno key, and it is no number", "2 is no"},
		"a part of a name":        {"http.NoBody, error_likewise, besides", ""},
		"a status":                {"it was answered 401 and answered 20 times", "1 answered [0-9]{3}"},
		"a longer phrase":         {"it is none of ours", "1 is none of"},
		"not text":                {"nobody\x00", ""},
		"in another encoding":     {"nobody \xff", ""},
		"on the first and a last": {"anew\n\nanew", "1 anew|3 anew"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, h := range find([]byte(tt.text)) {
				got = append(got, fmt.Sprint(h.line, " ", h.word))
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("found %q, want %s", got, tt.want)
			}
		})
	}
}

func TestIsOurs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"gateway/call.go":                true,
		"docs/keys.md":                   true,
		"views/keys/keys.templ":          true,
		"views/keys/keys_templ.go":       false,
		"LICENSE":                        false,
		"bundle/kong/NOTICE.txt":         false,
		"docs/THIRD_PARTY_NOTICES":       false,
		"static/vendor/htmx.min.js":      false,
		"static/js/app.js":               true,
		"static/css/app.css":             false,
		"tools/lint/go.sum":              false,
		"bundle/testdata/a.json.golden":  false,
		"tools/words/words.go":           false,
		"testkit/typescript/tsconfig.js": true,
	} {
		if got := isOurs(name); got != want {
			t.Errorf("isOurs(%q) = %t", name, got)
		}
	}
}

func TestParseAllowed_refused(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]string{
		"no reason":       "a.go: nobody",
		"an empty reason": "a.go: nobody:  ",
		"too many":        strings.Repeat("a.go: nobody: an account\n", maxAllowed+1),
	} {
		if got, err := parseAllowed(list); err == nil {
			t.Errorf("%s: accepted %d entries", name, len(got))
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"a.go":        "// nobody\n// nobody, and beside it\n",
		"b.md":        "nobody\n",
		"c_templ.go":  "nobody\n",
		"untracked":   "nobody\n",
		allowedFile:   "# uses\n\na.go: nobody: an account: on Linux\nb.md: whom: a quotation\n",
		"deleted.txt": "nobody\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "a.go", "b.md", "c_templ.go", "deleted.txt", allowedFile},
	} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	if err := os.Remove(filepath.Join(dir, "deleted.txt")); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	clean, err := check(dir, &out)
	want := "a.go:2: \"beside\": write \"next to\" or \"with\"\n" +
		"b.md:1: \"nobody\": write \"no one\", or name what there is none of\n" +
		"tools/words/allowed: b.md no longer has \"whom\": take it off the list\n"
	if err != nil || clean || out.String() != want {
		t.Errorf("clean %t, error %v, found\n%s", clean, err, out.String())
	}

	for name, text := range map[string]string{"a.go": "// no one\n", "b.md": "no one\n", allowedFile: ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out.Reset()
	if clean, err := check(dir, &out); err != nil || !clean || out.Len() > 0 {
		t.Errorf("clean %t, error %v, found\n%s", clean, err, out.String())
	}
}
