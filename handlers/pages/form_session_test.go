package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

// A value that is shown once waits for the session that sent the form.
func TestSecretForm_anotherSession(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	action, values := secretFormOn(s, secretForm{
		page:  "/projects/shop/keys",
		field: "owner",
		typed: []string{"owner", "billing"},
	})
	first := s.Do(http.MethodPost, action, values.Encode(), nil)
	mine := s.Client.Jar
	s.ClearCookies()
	s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password).LeadsTo("/projects")
	s.FollowRedirect(first).Shows(200, "Key for billing").Lacks("#new-key") // the session is another
	s.Client.Jar = mine
	s.FollowRedirect(first).Shows(200, "Key created").Says("#new-key", "pst_")
}

// A tab that was opened before the last sign-in gives back what was entered, for
// sending again in the session as it is now. That changes something once.
func TestForm_signedInAgain(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	for name, f := range map[string]secretForm{
		"a form that shows a secret": {
			page:  "/projects/shop/keys",
			field: "owner",
			typed: []string{"owner", "billing", "description", "Nightly run"},
			count: func(s *controlplane.Browser) int {
				return s.Get("/projects/shop/keys").Find("#keys tbody tr").Length()
			},
		},
		"a form that shows none": {
			page:  "/tenants",
			field: "name",
			typed: []string{"name", "acme", "display_name", "Acme & Sons"},
			count: func(s *controlplane.Browser) int {
				return s.Get("/tenants").Find("main a[href^='/tenants/']").Length()
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.WithT(t)
			action, values := secretFormOn(s, f)
			before := f.count(s)
			s.ClearCookies()
			s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password).LeadsTo("/projects")
			refused := s.Do(http.MethodPost, action, values.Encode(), nil).
				Shows(http.StatusUnprocessableEntity, "This form is out of date").
				Says("main", "Nothing was changed")
			for i := 0; i < len(f.typed); i += 2 {
				refused.Holds(f.typed[i], f.typed[i+1])
			}
			if after := f.count(s); after != before {
				t.Fatalf("the refused form changed something: %d, before %d", after, before)
			}
			values.Set(ui.NonceField, refused.Nonce(action))
			for range 2 {
				s.FollowRedirect(s.Do(http.MethodPost, action, values.Encode(), nil))
			}
			if after := f.count(s); after != before+1 {
				t.Errorf("sent again twice: %d, want %d", after, before+1)
			}
		})
	}
}

// Two tabs show the same key; the first rotation gives a key that the second must
// not end.
func TestRotate_twoTabs(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	path := s.Get("/projects/shop/keys").Find("#keys tbody a").AttrOr("href", "")
	f := secretForm{page: path, field: "grace_seconds", typed: []string{"grace_seconds", "0", "confirm", "true"}}
	action, one := secretFormOn(s, f)
	_, two := secretFormOn(s, f)
	two.Set("grace_seconds", "3600")
	shown := s.FollowRedirect(s.Do(http.MethodPost, action, one.Encode(), nil))
	key := controlplane.Clean(shown.Find("#new-key").Text())
	s.Do(http.MethodPost, action, two.Encode(), nil).
		Shows(http.StatusConflict, "Key for bootstrap").
		Says("[role=alert]", "the secret wasn't replaced").
		Lacks("#new-key")
	if last := key[len(key)-4:]; !strings.Contains(s.Get(path).Raw, last) {
		t.Errorf("the key that ends in %s was rotated away", last)
	}
	one.Set("grace_seconds", "3600") // back, and another grace
	s.Do(http.MethodPost, action, one.Encode(), nil).Shows(http.StatusConflict, "Key for bootstrap")
	if last := key[len(key)-4:]; !strings.Contains(s.Get(path).Raw, last) {
		t.Errorf("the key that ends in %s was rotated away with another grace", last)
	}
	// A page that is loaded now rotates again.
	_, three := secretFormOn(s, f)
	s.FollowRedirect(s.Do(http.MethodPost, action, three.Encode(), nil)).Shows(200, "Key rotated")
}

// A rotation that was opened before the last sign-in can be sent again while the
// secret is still the one that its page showed.
func TestRotate_signedInAgain(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	path := s.Get("/projects/shop/keys").Find("#keys tbody a").AttrOr("href", "")
	rotate := func(nonce string) *controlplane.Page {
		return s.Do(http.MethodPost, path+"/rotate", url.Values{
			"grace_seconds": {"0"},
			"confirm":       {"true"},
			ui.NonceField:   {nonce},
		}.Encode(), nil)
	}
	old := s.Get(path).Nonce(path + "/rotate")
	s.ClearCookies()
	s.Post("/signin", "email", "ana@example.com", "password", controlplane.Password).LeadsTo("/projects")
	renewed := rotate(old).Shows(422, "This form is out of date").Nonce(path + "/rotate")
	invented := rotate(strings.Repeat("A", len(old))).Shows(422, "This form is out of date").Nonce(path + "/rotate")
	rotate(invented).Shows(409, "Key for bootstrap").Says("[role=alert]", "the secret wasn't replaced")
	s.FollowRedirect(rotate(renewed)).Shows(200, "Key rotated")
	again := rotate(old).Shows(422, "This form is out of date").Nonce(path + "/rotate")
	s.FollowRedirect(rotate(again)).Shows(200, "Key for bootstrap").Lacks("#new-key")
}
