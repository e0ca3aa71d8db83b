package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/state"
	"postern/views/ui"
)

// What a form shows once waits for the session that sent the form.
func TestSecretForm_anotherSession(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		action, values := secretFormOn(s, secretForm{
			page:  "/projects/shop",
			field: "owner",
			typed: []string{"owner", "billing"},
		})
		first := s.ask(http.MethodPost, action, values.Encode(), nil)
		mine := s.client.Jar
		s.forget()
		s.post("/signin", "email", "ana@example.com", "password", password).leadsTo("/projects")
		s.follow(first).is(200, "Key of billing").lacks("#new-key") // the session is another
		s.client.Jar = mine
		s.follow(first).is(200, "Key created").says("#new-key", "pst_")
	})
}

// A tab that was opened before the last sign-in gives back what was entered, for
// sending again in the session as it is now. That changes something once.
func TestForm_signedInAgain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		for name, f := range map[string]secretForm{
			"a form that shows a secret": {
				page:  "/projects/shop",
				field: "owner",
				typed: []string{"owner", "billing", "description", "Nightly run"},
				count: func(s *site) int { return s.get("/projects/shop").Find("#keys tbody tr").Length() },
			},
			"a form that shows none": {
				page:  "/tenants",
				field: "name",
				typed: []string{"name", "acme", "display_name", "Acme & Sons"},
				count: func(s *site) int { return s.get("/tenants").Find("main a[href^='/tenants/']").Length() },
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.in(t)
				action, values := secretFormOn(s, f)
				before := f.count(s)
				s.forget()
				s.post("/signin", "email", "ana@example.com", "password", password).leadsTo("/projects")
				refused := s.ask(http.MethodPost, action, values.Encode(), nil).
					is(http.StatusUnprocessableEntity, "This form is out of date").
					says("main", "This submission changed nothing")
				for i := 0; i < len(f.typed); i += 2 {
					refused.holds(f.typed[i], f.typed[i+1])
				}
				if after := f.count(s); after != before {
					t.Fatalf("the refused form changed something: %d, before %d", after, before)
				}
				values.Set(ui.NonceField, refused.nonce(action))
				for range 2 {
					s.follow(s.ask(http.MethodPost, action, values.Encode(), nil))
				}
				if after := f.count(s); after != before+1 {
					t.Errorf("sent again twice: %d, want %d", after, before+1)
				}
			})
		}
	})
}

// Two tabs show the same key; the first rotation gives a key that the second must
// not end.
func TestRotate_twoTabs(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		path := s.get("/projects/shop").Find("#keys tbody a").AttrOr("href", "")
		f := secretForm{page: path, field: "grace_seconds", typed: []string{"grace_seconds", "0"}}
		action, one := secretFormOn(s, f)
		_, two := secretFormOn(s, f)
		two.Set("grace_seconds", "3600")
		key := clean(s.follow(s.ask(http.MethodPost, action, one.Encode(), nil)).Find("#new-key").Text())
		s.ask(http.MethodPost, action, two.Encode(), nil).
			is(http.StatusConflict, "Key of bootstrap").
			says("[role=alert]", "the secret was not replaced").
			lacks("#new-key")
		if last := key[len(key)-4:]; !strings.Contains(s.get(path).raw, last) {
			t.Errorf("the key that ends in %s was rotated away", last)
		}
		one.Set("grace_seconds", "3600") // back, and another grace
		s.ask(http.MethodPost, action, one.Encode(), nil).is(http.StatusConflict, "Key of bootstrap")
		if last := key[len(key)-4:]; !strings.Contains(s.get(path).raw, last) {
			t.Errorf("the key that ends in %s was rotated away with another grace", last)
		}
		// A page that is loaded now rotates again.
		_, three := secretFormOn(s, f)
		s.follow(s.ask(http.MethodPost, action, three.Encode(), nil)).is(200, "Key rotated")
	})
}

// A rotation that was opened before the last sign-in can be sent again while the
// secret is still the one that its page showed.
func TestRotate_signedInAgain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		path := s.get("/projects/shop").Find("#keys tbody a").AttrOr("href", "")
		rotate := func(nonce string) *seen {
			return s.ask(http.MethodPost, path+"/rotate", url.Values{
				"grace_seconds": {"0"},
				ui.NonceField:   {nonce},
			}.Encode(), nil)
		}
		old := s.get(path).nonce(path + "/rotate")
		s.forget()
		s.post("/signin", "email", "ana@example.com", "password", password).leadsTo("/projects")
		renewed := rotate(old).is(422, "This form is out of date").nonce(path + "/rotate")
		invented := rotate(strings.Repeat("A", len(old))).is(422, "This form is out of date").nonce(path + "/rotate")
		rotate(invented).is(409, "Key of bootstrap").says("[role=alert]", "the secret was not replaced")
		s.follow(rotate(renewed)).is(200, "Key rotated")
		again := rotate(old).is(422, "This form is out of date").nonce(path + "/rotate")
		s.follow(rotate(again)).is(200, "Key of bootstrap").lacks("#new-key")
	})
}
