package oidc_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/state"
)

// subscribe creates a webhook for all events and returns a function that reads the type and
// data of the messages since its last call, the oldest first.
func (s *app) subscribe() func() []message {
	s.t.Helper()
	in := contract.WebhookCreation{Body: contract.NewWebhook{URL: "http://127.0.0.1:9/hook"}}
	hook, err := s.server.Webhooks.Create(s.t.Context(), s.owner, in)
	if err != nil {
		s.t.Fatal(err)
	}
	seen := map[string]bool{}
	return func() (list []message) {
		s.t.Helper()
		all := contract.DeliveryList{WebhookPath: hook.Path()}
		found, err := s.server.Webhooks.Deliveries(s.t.Context(), s.owner, all)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, one := range slices.Backward(found.Items) {
			if seen[one.ID] {
				continue
			}
			seen[one.ID] = true
			m := message{raw: string(one.Payload)}
			if err := json.Unmarshal([]byte(one.Payload), &m); err != nil {
				s.t.Fatal(err)
			}
			list = append(list, m)
		}
		return list
	}
}

// message is a webhook's message.
type message struct {
	Type string
	Data map[string]string
	raw  string
}

func typesOf(list []message) (types []string) {
	for _, m := range list {
		types = append(types, m.Type)
	}
	slices.Sort(types) // messages of one transaction have the same time
	return types
}

// A first sign-in tells webhooks of the new user and of the groups that an approval put them
// into, a second one only of itself. An invited user was created by the invitation.
func TestLogin_events(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	s.declare(provider, "Example.com")
	staff := "staff"
	group, err := s.server.Directory.CreateGroup(t.Context(), s.owner, contract.NewGroup{Name: staff}.In(s.tenant))
	if err != nil {
		t.Fatal(err)
	}
	approval := contract.NewApproval{Value: "example.com", Groups: []string{group.ID}}.In(s.tenant)
	if _, err := s.server.Directory.CreateApproval(t.Context(), s.owner, approval); err != nil {
		t.Fatal(err)
	}
	events := s.subscribe()
	signIn := func() got {
		r, browser := s.request("openid email"), s.browser()
		back := s.agree(browser, fake.Authorize(t, s.toProvider(browser, r, provider.ID).String()).String())
		return s.exchange(r, back)
	}
	tokens := signIn()
	first := events()
	want := []string{"group.changed", "user.created", "user.signed_in"}
	if got := typesOf(first); !slices.Equal(got, want) {
		t.Fatalf("first sign-in: events %q, want %q", got, want)
	}
	user := claims(t, tokens.ID)["sub"]
	for _, m := range first {
		if m.Type == "user.signed_in" {
			data := map[string]string{"client": s.client.ID, "provider": provider.ID, "state": "active"}
			data["tenant"], data["tenant_name"] = s.tenant, "default"
			data["user"], data["external_id"], data["project"] = user.(string), "", m.Data["project"]
			if !maps.Equal(m.Data, data) {
				t.Errorf("user.signed_in has %v, want %v", m.Data, data)
			}
		}
		for _, secret := range []string{tokens.Access, tokens.ID, "@example.com"} {
			if strings.Contains(m.raw, secret) {
				t.Errorf("%s contains %s", m.raw, secret)
			}
		}
	}
	signIn()
	if got := typesOf(events()); !slices.Equal(got, []string{"user.signed_in"}) {
		t.Errorf("second sign-in: events %q", got)
	}
}
