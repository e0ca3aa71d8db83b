package credentials_test

import (
	"strings"
	"testing"

	"postern/cmd/internal/credentials"
	"postern/cmd/internal/terminal"
)

func TestContexts(t *testing.T) {
	kept, err := credentials.Open(terminal.Terminal{
		Err: &strings.Builder{}, Environ: []string{"POSTERN_CONFIG_DIR=" + t.TempDir()},
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		list, err := kept.Contexts()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range list {
			text := one.Name + " " + one.Account
			if one.Current {
				text += " *"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("contexts %q, want %q", text, want)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("")
	do(kept.KeepLogin("https://a.example.com", &credentials.Login{Account: "ana@example.com"}))
	check("a.example.com ana@example.com *")
	do(kept.Keeping("https://b.example.com", func() (*credentials.Workspace, error) {
		return &credentials.Workspace{Project: "shop", ClaimCode: "code"}, nil
	}))
	check("a.example.com ana@example.com *, b.example.com ")
	do(kept.Use("http://a.example.com"))
	check("b.example.com , http://a.example.com  *, https://a.example.com ana@example.com")
	do(kept.ForgetClaimed("https://b.example.com", "code"))
	do(kept.Use("https://a.example.com"))
	do(kept.KeepLogin("https://a.example.com", nil))
	check("a.example.com  *")
}
