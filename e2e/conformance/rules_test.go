//go:build conformance

package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/idp"
	"postern/testkit/sample"
)

// orderRules ask for scopes and groups in every way.
func orderRules() []snapshot.Rule {
	get := []string{"GET"}
	return []snapshot.Rule{
		{ID: "rul_1", Methods: get, Path: "/orders/{id}", Scopes: []string{"orders:read"}},
		{ID: "rul_2", Methods: []string{"POST"}, Path: "/orders/{id}", Scopes: []string{"orders:read", "orders:write"}},
		{ID: "rul_3", Methods: get, Path: "/orders/export", Groups: []string{"staff"}},
		{ID: "rul_4", Methods: []string{"*"}, Path: "/staff/{name}", Groups: []string{"staff", "ops"}},
		{ID: "rul_5", Methods: get, Path: "/staff/boss", Groups: []string{"staff"}, Role: snapshot.RoleAdmin},
		{ID: "rul_6", Methods: get, Path: "/caf%C3%A9/{x}/menu", Scopes: []string{"menu"}, Groups: []string{"ops"}},
		{ID: "rul_7", Methods: get, Path: "/later", Scopes: []string{"later"}, Mode: snapshot.RulesShadow},
		{ID: "rul_8", Methods: get, Path: "/never", Scopes: []string{"never"}, Mode: snapshot.RulesOff},
		{ID: "rul_9", Methods: get, Path: "/", Scopes: []string{"orders:read"}},
		{ID: "rul_10", Methods: []string{"*"}, Path: "/admin/**", Groups: []string{"staff"}},
		{ID: "rul_11", Methods: get, Path: "/admin/users/{id}", Groups: []string{"ops"}},
		{ID: "rul_12", Methods: get, Path: "/reports/{id}.json", Scopes: []string{"orders:read"}},
		{ID: "rul_13", Methods: []string{"POST"}, Path: "/reports/{id}:undelete", Scopes: []string{"orders:write"}},
	}
}

// rulesProject has rules of every kind in versions that accept keys and tokens, that fall back to an
// owner, and that let calls without credentials through.
func rulesProject(t *testing.T, up *upstream, of *idp.Issuer) (*snapshot.Project, map[string]sample.Plain) {
	project, keys := tokenProject(up, of.Pair())
	withAppClients(t, project)
	for i := range project.Versions {
		project.Versions[i].Rules = snapshot.Rules{List: orderRules()}
		switch project.Versions[i].Name {
		case "either":
			project.Versions[i].Rules.ReadWriteScopes = true
		case "open":
			project.Versions[i].Rules.Default = snapshot.RulesDeny
		}
	}
	project.Members = []snapshot.Member{
		{User: "usr_ana", TenantID: project.Tenants[0].ID, In: []string{"ops", "staff"}, Admin: []string{"staff"}},
		{User: "usr_bob", TenantID: project.Tenants[0].ID, In: []string{"ops"}},
	}
	for n, at := range project.Tenants[:2] { // an app of each, with one name
		owned, name := keys["active"], fmt.Sprintf("app%d", n)
		owned.ID, owned.Owner = fmt.Sprintf("key_97%d", n), "reports: eu/1"
		owned.TenantID, owned.Tenant = at.ID, at.Name
		owned.Plaintext = sample.Plaintext(name, "prod")
		owned.Hash = policy.HashKey(owned.Plaintext)
		keys[name] = owned
		project.Members = append(project.Members, snapshot.Member{
			User: owned.Owner, TenantID: at.ID, In: []string{[]string{"staff", "ops"}[n]},
		})
	}
	tenant, staff := "tnt_1", []string{"staff"}
	project.Users = []snapshot.Member{
		{User: "usr_1", TenantID: tenant, In: staff},
		{User: "usr_boss", TenantID: tenant, In: staff, Admin: staff},
		{User: "usr_ops", TenantID: tenant, In: []string{"ops"}},
	}
	for n, user := range []string{"usr_ana", "usr_bob"} {
		owned := keys["active"]
		owned.ID, owned.Owner = fmt.Sprintf("key_98%d", n), user
		owned.Plaintext = sample.Plaintext(user[4:], "prod")
		owned.Hash = policy.HashKey(owned.Plaintext)
		keys[user] = owned
	}
	return project, keys
}

// ruleCallers are the credentials of callers with different scopes and groups, by name.
func ruleCallers(t *testing.T, keys map[string]sample.Plain) map[string][]string {
	token := func(edits ...func(map[string]any)) string { return bearing(t, edits...) }
	with, staff := idp.WithClaim, []string{"staff"}
	out := map[string][]string{
		"no one":            nil,
		"a key for all":     {key(keys["active"])},
		"a key of an admin": {key(keys["usr_ana"])},
		"a key of a member": {key(keys["usr_bob"])},
		"a token of staff":  {token()},
		"a token of an admin": {
			token(with("sub", "usr_boss"), with("admin_of", staff), with("scope", "read write menu orders:*")),
		},
		"a token without groups": {token(with("sub", "usr_none"), with("groups", nil), with("scope", "read"))},
		"a token of a machine": {token(with("sub", "cli_1"), with("sid", nil), with("provider", nil),
			with("scope", "orders:read orders:write"))},
		"a token with a wrong role": {token(with("admin_of", "staff"))},
		"a key and a token": {
			key(keys["active"]), token(with("sub", "usr_ops"), with("groups", []string{"ops"})),
		},
	}
	for _, name := range []string{"readonly", "writer", "app0", "app1"} {
		if k, have := keys[name]; have {
			out["the key "+name] = []string{key(k)}
		}
	}
	return out
}

// bearing returns the header with a token of the app client for a user, who is in the group staff.
func bearing(t *testing.T, edits ...func(map[string]any)) string {
	now := time.Now()
	claims := map[string]any{
		"iss": "https://postern.example/oauth/cli_1", "aud": "cli_1", "sub": "usr_1", "client_id": "cli_1",
		"tenant": "tnt_1", "sid": "ses_1", "jti": "tok_1", "provider": "idp_1", "iat": now.Unix(),
		"exp": now.Add(time.Hour).Unix(), "scope": "openid orders:read", "groups": []string{"staff"},
	}
	for _, edit := range edits {
		edit(claims)
	}
	return "Authorization: Bearer " + ownKeys["sig_1"].Sign(t, nil, claims)
}

// The exported gateway refuses the same calls by rules, with the same answers, however the path is written.
func TestConformanceRules(t *testing.T) {
	up, of := newUpstream(t), startTokenIssuer(t)
	project, keys := rulesProject(t, up, of)
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	postern := startPosternOf(t, up, project, keys)
	type target struct{ method, path string }
	targets := []target{
		{"GET", ""}, {"GET", "/"}, {"GET", "/orders/1"}, {"GET", "/orders/1/"}, {"GET", "//orders///1"},
		{"GET", "/orders/%31"}, {"GET", "/x/../orders/1"}, {"GET", "/orders%2F1"}, {"GET", "/orders%252F1"},
		{"GET", "/orders;v=1/1"}, {"GET", "/orders%5C1"}, {"HEAD", "/orders/1"}, {"POST", "/orders/1"},
		{"GET", "/orders/export"}, {"GET", "/orders/%65xport"}, {"GET", "/orders/Export"}, {"DELETE", "/staff/ana"},
		{"GET", "/staff/boss"}, {"GET", "/caf%C3%A9/1/menu"}, {"GET", "/caf%c3%a9/%2541/menu"}, {"GET", "/later"},
		{"GET", "/admin"}, {"GET", "/admin/"}, {"GET", "/admin/x/y"}, {"GET", "/admin%2500"}, {"GET", "/admin%2Fx"},
		{"GET", "/adminx"}, {"GET", "/admin/users/1"}, {"POST", "/admin/users/1"}, {"GET", "/admin/users/1/keys"},
		{"GET", "/reports/1.json"}, {"GET", "/reports/1%2Ejson/"}, {"GET", "/reports/.json"},
		{"POST", "/reports/1:undelete"}, {"POST", "/reports/1%3Aundelete"},
		{"GET", "/never"}, {"GET", "/none"}, {"POST", "/none"}, {"OPTIONS", "/none"}, {"GET", "/a%20b;c/%7Bid%7D"},
	}
	codes, sent := map[int]int{}, 0
	callers := ruleCallers(t, keys)
	for _, version := range []string{"/either/prod", "/fallback/prod", "/open/prod"} {
		for _, name := range slices.Sorted(maps.Keys(callers)) {
			for _, at := range targets {
				c := one(name+" "+at.method+" "+version+at.path, at.method, projectHost, version+at.path,
					callers[name]...)
				want := postern.send(c)
				sent++
				if compare(t, c, postern, kong, want, kong.send(c)) {
					codes[want.Status]++
				}
			}
		}
	}
	if sent < 300 || codes[http.StatusOK] < 100 || codes[http.StatusForbidden] < 100 {
		t.Errorf("%d requests, equal by status: %v", sent, codes)
	}
	t.Logf("%d requests, equal by status: %v", sent, codes)
	c := one("by the name of the host", "GET", bareHost, "/shop/either/prod/orders/1",
		callers["a token without groups"]...)
	want := postern.send(c)
	if compare(t, c, postern, kong, want, kong.send(c)); want.Status != http.StatusForbidden ||
		want.Answer.Get("WWW-Authenticate") != `Bearer error="insufficient_scope"` {
		t.Errorf("%+v", want)
	}
}
