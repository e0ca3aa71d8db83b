package jobs_test

import (
	"errors"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

func TestWebhooks_invalidFields(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newGuardedFixture(t, db)
		for pointer, in := range map[string]contract.NewWebhook{
			"/url":         {URL: "http://169.254.169.254/"},
			"/events/1":    {URL: "http://8.8.8.8", Events: []string{contract.EventKeyFrozen, "key.eaten"}},
			"/description": {URL: "http://8.8.8.8", Description: strings.Repeat("x", 201)},
		} {
			_, err := f.hooks.Create(t.Context(), f.ana, contract.WebhookCreation{Body: in})
			refused, ok := errors.AsType[*fault.Error](err)
			if !ok || refused.Kind != fault.Invalid {
				t.Errorf("%+v: %v, want it refused", in, err)
				continue
			}
			if len(refused.Fields) != 1 || refused.Fields[0].Pointer != pointer {
				t.Errorf("%+v: %+v, want %s alone", in, refused.Fields, pointer)
			}
		}
	})
}

func TestWebhooks_urls(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newGuardedFixture(t, db)
		for _, url := range []string{
			"http://8.8.8.8/hook?code=a b",
			"http://8.8.8.8/hook?code=1#top",
			"http://8.8.8.8/hook?code=\x00",
			"http://169.254.169.254/?x=1",
		} {
			_, err := f.hooks.Create(t.Context(), f.ana, contract.WebhookCreation{Body: contract.NewWebhook{URL: url}})
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%q: %v, want it refused", url, err)
			}
		}
		const kept = "http://8.8.8.8/hook?code=%20x&sig=a/b?c" // unchanged: the receiver may check a signature of it
		in := contract.NewWebhook{URL: kept}
		created, err := f.hooks.Create(t.Context(), f.ana, contract.WebhookCreation{Body: in})
		if err != nil {
			t.Fatal(err)
		}
		if created.URL != kept {
			t.Errorf("%q, want %q", created.URL, kept)
		}
	})
}

func TestWebhooks_workspaceKey(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newGuardedFixture(t, db)
		key := access.Principal{
			Roles:    map[string]access.Role{f.ana.HomeTeam: access.Workspace},
			HomeTeam: f.ana.HomeTeam,
		}
		in := contract.NewWebhook{URL: "http://8.8.8.8"}
		_, err := f.hooks.Create(t.Context(), key, contract.WebhookCreation{Body: in})
		if fault.KindOf(err) != fault.Forbidden {
			t.Errorf("got %v, want it forbidden", err)
		}
	})
}

// newGuardedFixture returns a fixture that checks webhooks' addresses.
func newGuardedFixture(t *testing.T, db *models.DB) *webhookFixture {
	t.Helper()
	f := newWebhookFixture(t, db, egress.Options{})
	guard, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.hooks.Targets = guard
	return f
}
