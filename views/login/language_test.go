package login_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/views/login"
)

// texts reads an embedded language's file.
func texts(t *testing.T, tag string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("languages", tag+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]string
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// placeholders returns the sorted placeholders of a text.
func placeholders(text string) []string {
	return slices.Sorted(slices.Values(placeholder.FindAllString(text, -1)))
}

// TestLanguages_complete checks that German has every text, with the same placeholders, and
// nothing that no page shows.
func TestLanguages_complete(t *testing.T) {
	english, german := texts(t, "en"), texts(t, "de")
	for key, text := range english {
		other := german[key]
		if other == "" {
			t.Errorf("de.json lacks %s", key)
		}
		if got, want := placeholders(other), placeholders(text); !slices.Equal(got, want) {
			t.Errorf("%s: placeholders %v, want %v", key, got, want)
		}
	}
	for key := range german {
		if _, ok := english[key]; !ok && !strings.HasPrefix(key, "error_") {
			t.Errorf("de.json has %s, which en.json lacks", key)
		}
	}
}

// TestLanguages_used checks that the pages use every English text, and no other key.
func TestLanguages_used(t *testing.T) {
	var source strings.Builder
	for _, name := range []string{
		"login.templ", "login.go", "account.templ", "account.go", "language.go", "../../handlers/oidc/login.go",
		"../../handlers/oidc/account.go", "../../handlers/oidc/logout.go",
	} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(raw)
	}
	english := texts(t, "en")
	used := map[string]bool{}
	for _, found := range regexp.MustCompile(`\.T\("(\w+)"[,)]`).FindAllStringSubmatch(source.String(), -1) {
		used[found[1]] = true
		if english[found[1]] == "" {
			t.Errorf("a page shows %s, which en.json lacks", found[1])
		}
	}
	for key := range english {
		if !used[key] && !strings.HasPrefix(key, "share_") {
			t.Errorf("no page shows %s", key)
		}
	}
}

// noPage has the errors of the login that no page shows: clients, teams and gateways get them
// as JSON.
var noPage = []string{
	"credentials_required", "insufficient_scope", "invalid_client", "invalid_grant", "invalid_json", "invalid_scope",
	"invalid_target", "invalid_token", "malformed", "token_type_ambiguous", "too_large",
	"too_many_app_clients", "too_many_approvals", "too_many_providers", "unauthorized_client",
	"rotation_pending", "unsupported_grant_type", "user_not_invited", "invalid_request",
}

// elsewhere has the errors that other packages make.
var elsewhere = []string{"not_found", "too_many_attempts"}

// TestLanguages_errors checks that every error that a page can show has a German text.
func TestLanguages_errors(t *testing.T) {
	german, seen := texts(t, "de"), map[string]bool{}
	for _, folder := range []string{
		"service/appclients", "service/login", "service/login/providers", "service/directory", "handlers/oidc",
	} {
		files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for key, values := range keysIn(t, name) {
				seen[key] = true
				text := german["error_"+key]
				if text == "" && !slices.Contains(noPage, key) {
					t.Errorf("%s: de.json lacks error_%s; if no page shows the error, add it to noPage", name, key)
				}
				if got := placeholders(text); !slices.Equal(got, values) {
					t.Errorf("%s: error_%s has the placeholders %v, want %v", name, key, got, values)
				}
			}
		}
	}
	for _, code := range noPage {
		if !seen[code] || german["error_"+code] != "" {
			t.Errorf("%s: there is no such error any more, or it has a German text", code)
		}
	}
	for key := range german {
		code, isError := strings.CutPrefix(key, "error_")
		if isError && !seen[code] && !slices.Contains(elsewhere, code) {
			t.Errorf("de.json has %s, but there is no such error", key)
		}
	}
	if len(seen) < 25 {
		t.Errorf("%d errors were found in the source", len(seen))
	}
}

// keysIn returns the keys of the errors that a file makes with fault.New, and the sorted placeholders of each. The key
// is the error's code, unless Worded gives the sentence its own.
func keysIn(t *testing.T, name string) map[string][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	keys, hasOwn := map[string][]string{}, map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, isName := called.X.(*ast.Ident)
		switch {
		case called.Sel.Name == "Worded":
			hasOwn[called.X] = true
			var values []string
			for i := 1; i < len(call.Args); i += 2 {
				values = append(values, "{"+literal(call.Args[i])+"}")
			}
			slices.Sort(values)
			keys[literal(call.Args[0])] = values
		case isName && of.Name == "fault" && called.Sel.Name == "New" && !hasOwn[call]:
			if code := literal(call.Args[1]); code != "" {
				keys[code] = nil
			}
		}
		return true
	})
	return keys
}

// literal returns the text of a string literal, "" for another expression.
func literal(e ast.Expr) string {
	text, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	return strings.Trim(text.Value, `"`)
}

func TestLanguages_match(t *testing.T) {
	for _, tt := range []struct{ locales, accepted, want string }{
		{"", "", "en"},
		{"", "de", "de"},
		{"", "de-AT,de;q=0.9,en;q=0.8", "de"},
		{"", "en-GB,de;q=0.5", "en"},
		{"", "fr", "en"},
		{"", "fr;q=0.9,de;q=0.1", "de"},
		{"de", "en", "de"},
		{"en de", "de", "en"},
		{"fr-CA de-CH", "en", "de"},
		{"xx-!! ", "de", "de"},
		{"", "*", "en"},
		{"", strings.Repeat("a,", 10_000), "en"},
		{strings.Repeat("de ", 10_000), "", "de"},
	} {
		if got := login.Builtin().Match(tt.locales, tt.accepted).Tag(); got != tt.want {
			t.Errorf("ui_locales %.20q, Accept-Language %.20q: %s, want %s", tt.locales, tt.accepted, got, tt.want)
		}
	}
}

func TestLoadLanguages(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ar.json", `{"sign_in": "تسجيل الدخول", "sign_out": "", "signed_out": null}`)
	write("de.json", `{"cancel": "Lieber nicht"}`)
	write("readme.txt", "not a language")
	l, err := login.LoadLanguages(dir)
	if err != nil {
		t.Fatal(err)
	}
	arabic, german := l.Match("ar-EG", ""), l.Match("de", "")
	for name, got := range map[string][2]string{
		"a text of the file":           {arabic.T("sign_in"), "تسجيل الدخول"},
		"a text that it lacks":         {arabic.T("cancel"), "Cancel"},
		"an empty text":                {arabic.T("sign_out"), "Sign out"},
		"a text that is null":          {arabic.T("signed_out"), "Signed out"},
		"its direction":                {arabic.Direction(), "rtl"},
		"a replaced text":              {german.T("cancel"), "Lieber nicht"},
		"a text next to it":            {german.T("sign_in"), "Anmelden"},
		"an error":                     {german.Error("user_frozen", ""), texts(t, "de")["error_user_frozen"]},
		"an error without translation": {german.Error("odd", "In English."), "In English."},
		"an error about a provider": {
			german.Error("provider_denied", "", "provider", "Acme {provider}"),
			"Sie haben die Anmeldung mit Acme {provider} nicht abgeschlossen.",
		},
		"a value with a placeholder": {german.T("sign_in_to", "app", "{app}"), "Bei {app} anmelden"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", name, got[0], got[1])
		}
	}
	if _, err := login.LoadLanguages(filepath.Join(dir, "absent")); err == nil {
		t.Error("no error for a directory that is not there")
	}
	for name, content := range map[string]string{"fr.json": `["a"]`, "no language.json": `{}`} {
		write(name, content)
		if _, err := login.LoadLanguages(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want an error that names it", name, err)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWords_date(t *testing.T) {
	at := time.Date(2026, time.November, 2, 9, 4, 0, 0, time.FixedZone("", 3600))
	for _, tc := range []struct{ tag, date, time string }{
		{"en", "2 Nov 2026", "2 Nov 2026, 08:04"},
		{"de", "2.11.2026", "2.11.2026, 08:04"},
	} {
		t.Run(tc.tag, func(t *testing.T) {
			words := login.Builtin().Match("", tc.tag)
			if got := words.Date(at); got != tc.date {
				t.Errorf("Date %q, want %q", got, tc.date)
			}
			if got := words.Time(at); got != tc.time {
				t.Errorf("Time %q, want %q", got, tc.time)
			}
		})
	}
}
