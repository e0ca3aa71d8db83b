package domains_test

import (
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/testkit/state"
)

func TestApprove(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		operator := access.Principal{
			Account: "acc_operator", Operator: true, Roles: map[string]access.Role{"x": access.Owner},
		}
		added := w.add(t, p, "shop", "api.internal.example")
		_, err := w.Approve(t.Context(), p, contract.DomainOf("shop", added.ID))
		wantCode(t, err, "not_found")
		got, err := w.Approve(t.Context(), operator, contract.DomainOf("shop", "api.internal.example"))
		if err != nil || got.State != contract.DomainVerified || got.Proof == nil ||
			*got.Proof != contract.ProofOperator {
			t.Fatalf("Approve: %v, %+v", err, got)
		}
		if got := w.hosts()["api.internal.example"]; got != "shop/prod" {
			t.Errorf("the gateway serves it for %q", got)
		}
		if again, err := w.Verify(t.Context(), p, contract.DomainOf("shop", added.ID)); err != nil ||
			again.State != contract.DomainVerified {
			t.Errorf("Verify of an approved name: %v, %s", err, again.State)
		}
		if got, err = w.Disapprove(t.Context(), operator, contract.DomainOf("shop", added.ID)); err != nil ||
			got.State != contract.DomainPending {
			t.Fatalf("Disapprove: %v, %s", err, got.State)
		}
		if got := w.hosts(); len(got) != 0 {
			t.Errorf("after Disapprove the gateway serves %v", got)
		}
	})
}

// TestAdd_hostHeader refuses names that calls to the project's own upstreams have in their Host header, also when the
// header is set before the name is verified.
func TestAdd_hostHeader(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		setHeader := func(to string) {
			t.Helper()
			in := contract.EnvironmentChange{Upstream: contract.Upstream{HostHeader: &to}}.Of("shop", "1.0.0", "dev")
			if _, err := w.projects.UpdateEnvironment(t.Context(), p, in); err != nil {
				t.Fatal(err)
			}
		}
		setHeader("api.example.com")
		_, err := w.create(t, p, "shop", "API.example.com", "prod")
		wantCode(t, err, "host_header")
		setHeader("caller")
		added := w.add(t, p, "shop", "api.example.com")
		setHeader("api.example.com")
		w.names.Set(added.Record.Name, added.Record.Value)
		_, err = w.Verify(t.Context(), p, contract.DomainOf("shop", added.ID))
		wantCode(t, err, "host_header")
		operator := access.Principal{
			Account: "acc_operator", Operator: true, Roles: map[string]access.Role{"x": access.Owner},
		}
		_, err = w.Approve(t.Context(), operator, contract.DomainOf("shop", added.ID))
		wantCode(t, err, "host_header")
		if got := w.hosts(); len(got) != 0 {
			t.Errorf("the gateway serves %v", got)
		}
		setHeader("target")
		if _, err := w.Verify(t.Context(), p, contract.DomainOf("shop", added.ID)); err != nil {
			t.Errorf("Verify without the header: %v", err)
		}
	})
}

func TestAdd_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		p := w.team(t, "shop")
		for host, want := range map[string]string{
			"":                         "required",
			"*.example.com":            "invalid_host",
			"https://api.example.com":  "invalid_host",
			"api.example.com:8443":     "invalid_host",
			"192.0.2.1":                "invalid_host",
			"2001:db8::1":              "invalid_host",
			"example":                  "invalid_host",
			"api.localhost":            "invalid_host",
			"a..example.com":           "invalid_host",
			"-a.example.com":           "invalid_host",
			"a_b.example.com":          "invalid_host",
			"a b.example.com":          "invalid_host",
			"api.example.com\r\nX: y":  "invalid_host",
			"1.2.3.4.5":                "invalid_host",
			"console.postern.example":  "own_host",
			"CONSOLE.postern.example.": "own_host",
			"gate.example":             "own_host",
			"shop.gate.example":        "own_host",
			"a.b.gate.example":         "own_host",
			"ｓｈｏｐ．ｇａｔｅ．ｅｘａｍｐｌｅ": "own_host",
		} {
			t.Run(host, func(t *testing.T) {
				_, err := w.create(t, p, "shop", host, "prod")
				wantCode(t, err, want)
			})
		}
		if got := w.add(t, p, "shop", "Bücher.example"); got.Host != "xn--bcher-kva.example" {
			t.Errorf("Bücher.example became %s", got.Host)
		}
		_, err := w.create(t, p, "shop", "bücher.example", "dev")
		wantCode(t, err, "already_added")
		_, err = w.create(t, p, "shop", "a.example.com", "staging")
		wantCode(t, err, "unknown_environment")

		viewer := access.Principal{Account: "acc_v", Roles: map[string]access.Role{p.HomeTeam: access.Viewer}}
		_, err = w.create(t, viewer, "shop", "a.example.com", "prod")
		wantCode(t, err, "not_allowed")
		unclaimed := access.Principal{Roles: map[string]access.Role{p.HomeTeam: access.Workspace}}
		_, err = w.create(t, unclaimed, "shop", "a.example.com", "prod")
		wantCode(t, err, "not_allowed")
	})
}
