package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// withRules requires these rules of version 1.0.0.
func withRules(rules snapshot.Rules) rigOption {
	return withProject(func(p *snapshot.Project) {
		p.Versions[0].Rules = rules
		p.Members = []snapshot.Member{
			{User: "billing-service", TenantID: "tnt_acme", In: []string{"staff"}},
			{User: "usr_ana", TenantID: "tnt_1", In: []string{"staff"}},
		}
		p.Tenants = append(p.Tenants, snapshot.Tenant{ID: "tnt_acme", Name: "acme"})
	})
}

var shopRules = snapshot.Rules{
	ReadWriteScopes: true,
	List: []snapshot.Rule{
		{ID: "rul_order", Methods: []string{"GET"}, Path: "/orders/{id}", Scopes: []string{"orders:read"}},
		{ID: "rul_staff", Methods: []string{"*"}, Path: "/staff", Groups: []string{"staff"}},
		{
			ID:      "rul_shadow",
			Methods: []string{"GET"},
			Path:    "/shadow",
			Groups:  []string{"staff"},
			Mode:    snapshot.RulesShadow,
		},
	},
}

func TestRules_gateway(t *testing.T) {
	for path, options := range map[string][]rigOption{
		"engine": {withRules(shopRules)}, "net/http": {withRules(shopRules), onNetHTTP},
	} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, options...)
			key := func(k snapshot.Key) string { return "X-API-Key: " + r.mint("prod", k) }
			reader := key(snapshot.Key{ID: "key_r", Owner: "app", Scopes: []string{"read"}})
			full := key(snapshot.Key{ID: "key_f", Owner: "app", Scopes: []string{"*"}})
			orders := key(snapshot.Key{ID: "key_o", Owner: "app", Scopes: []string{"orders:*"}})
			ana := key(snapshot.Key{ID: "key_a", Owner: "usr_ana", Scopes: []string{"*"}})
			acme := key(snapshot.Key{ID: "key_t", Owner: "usr_ana", TenantID: "tnt_acme", Scopes: []string{"*"}})
			app := key(snapshot.Key{ID: "key_b", Owner: "billing-service", TenantID: "tnt_acme", Scopes: []string{"*"}})
			namesake := key(snapshot.Key{ID: "key_n", Owner: "billing-service", Scopes: []string{"*"}})
			for _, tc := range []struct {
				name, method, path, line string
				status                   int
				code                     string
			}{
				{"read", "GET", "/x", reader, 200, ""},
				{"write with read", "POST", "/x", reader, 403, "insufficient_scope"},
				{"write", "POST", "/x", full, 200, ""},
				{"a scope", "GET", "/orders/1", reader, 403, "insufficient_scope"},
				{"a family", "GET", "/orders/1", orders, 200, ""},
				{"an escape", "GET", "/orders/%31", reader, 403, "insufficient_scope"},
				{"a slash more", "GET", "//orders//1", reader, 403, "insufficient_scope"},
				{"a dot segment", "GET", "/x/../orders/1", reader, 403, "insufficient_scope"},
				{"an encoded slash", "GET", "/orders%2f1", reader, 403, "insufficient_scope"},
				{"a hidden dot segment", "GET", "/x%2f..%2forders/1", reader, 400, "bad_path"},
				{"HEAD", "HEAD", "/orders/1", reader, 403, ""},
				{"no group", "GET", "/staff", full, 403, "not_in_group"},
				{"a group", "DELETE", "/staff", ana, 200, ""},
				{"a group of another tenant", "GET", "/staff", acme, 403, "not_in_group"},
				{"a group of an app", "GET", "/staff", app, 200, ""},
				{"a group of another tenant's app", "GET", "/staff", namesake, 403, "not_in_group"},
				{"in shadow", "GET", "/shadow", full, 200, ""},
				{"an invalid key first", "GET", "/staff", "X-API-Key: x", 401, "invalid_key"},
			} {
				got := r.call(tc.method, "/shop/1.0.0/prod"+tc.path, tc.line)
				r.wantCode(tc.name, got, tc.status, tc.code)
				if tc.status == 403 && got.Header.Get("WWW-Authenticate") != "" {
					t.Errorf("%s: challenge %q", tc.name, got.Header.Get("WWW-Authenticate"))
				}
			}
		})
	}
}

func TestRules_scopeInMessage(t *testing.T) {
	for path, options := range map[string][]rigOption{
		"engine": {withRules(shopRules)}, "net/http": {withRules(shopRules), onNetHTTP},
	} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, options...)
			reader := "X-API-Key: " + r.mint("prod", snapshot.Key{ID: "key_r", Owner: "app", Scopes: []string{"read"}})
			for at, scope := range map[string]string{"GET /orders/1": "orders:read", "POST /x": "write"} {
				method, path, _ := strings.Cut(at, " ")
				want := string(policy.InsufficientScope.NameScope(scope).Body())
				if got := r.call(method, "/shop/1.0.0/prod"+path, reader).body; got != want {
					t.Errorf("%s: %s, want %s", at, got, want)
				}
			}
		})
	}
}

// A call with the fallback owner has neither scopes nor groups, whatever the owner's name.
func TestRules_fallbackOwners(t *testing.T) {
	r := newRig(t, nil, withRules(snapshot.Rules{List: shopRules.List}), withProject(func(p *snapshot.Project) {
		p.FallbackOwner, p.Versions[0].Access.Keyless = "usr_ana", snapshot.OwnerFallback
	}))
	r.wantCode("without a rule", r.get("/shop/1.0.0/prod/x", noKey), 200, "")
	r.wantCode("a scope", r.get("/shop/1.0.0/prod/orders/1", noKey), 403, "insufficient_scope")
	r.wantCode("a group", r.get("/shop/1.0.0/prod/staff", noKey), 403, "not_in_group")
}

func TestRules_shadow(t *testing.T) {
	for path, option := range map[string]rigOption{"engine": func(*rig, *gateway.Options) {}, "net/http": onNetHTTP} {
		t.Run(path, func(t *testing.T) {
			seen := outcomes{make(chan gateway.Outcome, 10)}
			r := newRig(t, nil, withRules(shopRules), option, func(_ *rig, o *gateway.Options) { o.Observer = seen })
			r.wantCode("in shadow", r.get("/shop/1.0.0/prod/shadow"), 200, "")
			if got := within(t, "the outcome", seen.got); got.ShadowRule != "rul_shadow" ||
				got.ShadowCode != "not_in_group" {
				t.Errorf("%+v", got)
			}
			r.wantCode("no shadow", r.get("/shop/1.0.0/prod/x"), 200, "")
			if got := within(t, "the outcome", seen.got); got.ShadowRule != "" || got.ShadowCode != "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestRules_unknown(t *testing.T) {
	r := newRig(t, nil)
	broken := *r.project
	broken.Versions = []snapshot.Version{broken.Versions[0]}
	broken.Versions[0].Rules.Mode = "audit"
	err := r.gateway.Publish([]*snapshot.Project{&broken})
	if err == nil || !strings.Contains(err.Error(), `mode "audit" is not known`) {
		t.Errorf("published: %v", err)
	}
}

// A stream ends when its rule refuses it.
func TestRules_streams(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = conn.Write([]byte(request("GET", "/shop/1.0.0/prod/orders/1", r.addr, "X-API-Key: "+r.key)))
	head := make([]byte, 12)
	if _, err := conn.Read(head); err != nil {
		t.Fatal(err)
	}
	changed := *r.project
	changed.Versions = []snapshot.Version{changed.Versions[0]}
	changed.Versions[0].Rules = shopRules
	if err := r.gateway.Publish([]*snapshot.Project{&changed}); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 1024)
	for {
		if _, err := conn.Read(rest); err != nil {
			if timeout, ok := err.(interface{ Timeout() bool }); ok && timeout.Timeout() {
				t.Error("the stream goes on")
			}
			return
		}
	}
}
