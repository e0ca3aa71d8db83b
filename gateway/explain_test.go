package gateway_test

import (
	"slices"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit"
)

// Explain decides as calls are decided.
func TestExplain(t *testing.T) {
	r := newRig(t, nil, withRules(shopRules))
	hashes := map[string][32]byte{}
	mint := func(name string, k snapshot.Key) string {
		plaintext := r.mint("prod", k)
		hashes[name] = policy.HashKey(plaintext)
		return "X-API-Key: " + plaintext
	}
	lines := map[string]string{
		"reader":  mint("reader", snapshot.Key{ID: "key_r", Owner: "app", Scopes: []string{"read"}}),
		"full":    mint("full", snapshot.Key{ID: "key_f", Owner: "app", Scopes: []string{"*"}}),
		"ana":     mint("ana", snapshot.Key{ID: "key_a", Owner: "usr_ana", Scopes: []string{"*"}}),
		"frozen":  mint("frozen", snapshot.Key{ID: "key_z", Owner: "app", State: snapshot.KeyFrozen}),
		"unknown": "X-API-Key: x",
		"none":    noKey,
	}
	hashes["unknown"] = [32]byte{1}
	for name, line := range lines {
		for _, at := range []string{
			"GET /x", "POST /x", "GET /orders/1", "GET //orders/%31", "GET /orders%2F1", "PUT /staff", "GET /shadow",
			"GET /a%2f..%2fb", "GET /../../..", "GET /a%00",
		} {
			method, path, _ := strings.Cut(at, " ")
			q := policy.Question{
				ProjectID:   "prj_shop",
				Version:     "1.0.0",
				Environment: "prod",
				Method:      method,
				Path:        path,
			}
			if hash, have := hashes[name]; have {
				q.KeyHash = &hash
			}
			got := r.gateway.Explain(q)
			called := r.call(method, "/shop/1.0.0/prod"+path, line)
			if got.Denial.Code != called.code() || (got.Denial == policy.Denial{}) != (called.StatusCode == 200) {
				if path == "/../../.." {
					continue // leads to another address, which a question does not have
				}
				t.Errorf("%s %s: explained %q, called %d %q", name, at, got.Denial.Code, called.StatusCode,
					called.code())
			}
			if len(got.Steps) == 0 || got.DecidedBy == "" {
				t.Errorf("%s %s: %+v", name, at, got)
			}
		}
	}
	shadow := r.gateway.Explain(policy.Question{
		ProjectID: "prj_shop", Version: "1.0.0", Environment: "prod", Method: "GET", Path: "/shadow",
		KeyHash: new(hashes["full"]),
	})
	found := false
	for _, step := range shadow.Steps {
		found = found || step.Outcome == policy.OutcomeRefuse && strings.Contains(step.Detail, "rul_shadow")
	}
	if !found {
		t.Errorf("no step of rules in shadow: %+v", shadow.Steps)
	}
	if n := len(r.upstreamCalls()); n == 0 {
		t.Error("no call reached the upstream: there is nothing to compare")
	}
}

// A refusal says what the caller lacks.
func TestExplain_missing(t *testing.T) {
	r := newRig(t, nil, withRules(shopRules))
	hash := policy.HashKey(r.mint("prod", snapshot.Key{ID: "key_r", Owner: "app", Scopes: []string{"read"}}))
	for at, want := range map[string]string{
		"GET /orders/1":   "The missing scope is orders:read.",
		"GET /orders%2F1": "The missing scope is orders:read.",
		"GET /staff":      "The rule requires one of the groups staff.",
		"POST /x":         "Keys require the scope write for POST",
		"GET /shadow":     "The rule requires one of the groups staff.",
		"GET /x":          "No enforced rule matches this route",
	} {
		method, path, _ := strings.Cut(at, " ")
		got := r.gateway.Explain(policy.Question{
			ProjectID:   "prj_shop",
			Version:     "1.0.0",
			Environment: "prod",
			Method:      method,
			Path:        path,
			KeyHash:     &hash,
		})
		if !slices.ContainsFunc(got.Steps, func(s policy.Step) bool { return strings.Contains(s.Detail, want) }) {
			t.Errorf("%s: no step says %q: %v", at, want, got.Steps)
		}
	}
}

// The exported realm has no roles of members.
func TestExplain_rolesOnExport(t *testing.T) {
	staff := []string{"staff"}
	users := func(p *snapshot.Project) {
		p.Users = []snapshot.Member{
			{User: "usr_1", TenantID: "tnt_1", In: staff, Admin: staff}, {User: "usr_2", TenantID: "tnt_1", In: staff},
		}
	}
	r := newRig(t, nil, withHosted(users), withRules(snapshot.Rules{List: []snapshot.Rule{{
		ID: "rul_boss", Methods: []string{"GET"}, Path: "/boss", Groups: staff, Role: snapshot.RoleAdmin,
	}}}))
	q := policy.Question{ProjectID: "prj_shop", Version: "1.0.0", Environment: "prod", Method: "GET", Path: "/boss",
		User: &policy.TokenUser{ID: "usr_1", TenantID: "tnt_1"}}
	got := r.gateway.Explain(q)
	if got.Denial != (policy.Denial{}) || got.Exported != policy.NotInGroup || got.DecidedBy != "rul_boss" {
		t.Errorf("%+v", got)
	}
	q.User.ID = "usr_2"
	if got := r.gateway.Explain(q); got.Denial != policy.NotInGroup || got.DecidedBy != "rul_boss" {
		t.Errorf("%+v", got)
	}
	q.User.TenantID = "tnt_other"
	if got := r.gateway.Explain(q); got.Denial != policy.TokenTenant {
		t.Errorf("%+v", got)
	}
}

// The exported gateway knows neither takedowns nor deletions.
func TestExplain_closedProjectsOnExport(t *testing.T) {
	q := policy.Question{ProjectID: "prj_shop", Version: "1.0.0", Environment: "prod", Method: "GET", Path: "/staff"}
	for name, closed := range testkit.ByName(map[string]struct {
		change func(*snapshot.Project)
		denial policy.Denial
	}{
		"taken down": {func(p *snapshot.Project) { p.TakenDown = true }, policy.ProjectFrozen},
		"deleted":    {func(p *snapshot.Project) { p.Deleted = true }, policy.Deleted},
	}) {
		r := newRig(t, nil, withRules(shopRules), withProject(closed.change))
		got := r.gateway.Explain(q)
		if got.Denial != closed.denial || got.Exported != policy.CredentialsRequired {
			t.Errorf("%s: %+v", name, got)
		}
		if len(got.Steps) != 1 || got.DecidedBy != policy.ExplainRoute {
			t.Errorf("%s: %+v", name, got)
		}
	}
	r := newRig(t, nil, withRules(shopRules))
	q.ProjectID = "prj_other"
	if got := r.gateway.Explain(q); got.Denial != policy.NoRoute || got.Exported != policy.NoRoute {
		t.Errorf("another project: %+v", got)
	}
}
