package projects_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/projects"
	"postern/testkit/state"
)

// upstreamOf reads an upstream as the API does.
func upstreamOf(t *testing.T, text string) (u contract.Upstream) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &u); err != nil {
		t.Fatal(err)
	}
	return u
}

// wantTargets checks what an upstream has of targets, checks and breaker.
func wantTargets(t *testing.T, what string, got contract.Upstream, want string) {
	t.Helper()
	only := contract.Upstream{UpstreamTargets: got.UpstreamTargets, Checks: got.Checks, Breaker: got.Breaker}
	if text, err := json.Marshal(only); err != nil || string(text) != want {
		t.Errorf("%s: %s, want %s", what, text, want)
	}
}

const defaultChecks = `"checks":{"path":"","interval_ms":10000,"timeout_ms":2000,"healthy":2,"unhealthy":3,` +
	`"statuses":["200-399"],"passive_failures":5},"breaker":{"failures":0,"window_ms":10000,"open_ms":10000}`

func TestUpdateEnvironment_targets(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, projects.CreateInput{Environments: map[string]contract.EnvironmentTarget{
			"prod": {Upstream: upstreamOf(t, `{"targets": [{"url": "https://a.example/v1"},
				{"url": "https://b.example:8443/v1", "weight": 0}]}`)},
		}})
		id, prod := created.Project.ID, created.Project.Versions[0].Environments[0]
		if created.Project.Name != "a-example" || prod.Target != "https://a.example/v1" {
			t.Errorf("the project %s has the target %s", created.Project.Name, prod.Target)
		}
		const several = `"targets":[{"url":"https://a.example/v1","weight":1},` +
			`{"url":"https://b.example:8443/v1","weight":0}]`
		wantTargets(t, "a new environment", prod.Upstream, `{`+several+`,"balance":"round_robin",`+defaultChecks+`}`)

		update := func(change contract.EnvironmentChange) contract.Environment {
			t.Helper()
			out, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", prod.ID))
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		out := update(contract.EnvironmentChange{Upstream: upstreamOf(t, `{"balance": {"hash": {"header": "X-User"}},
			"checks": {"path": "/healthz", "statuses": [204, "300-302"]}, "breaker": {"failures": 9}}`)})
		wantTargets(t, "after a change", out.Upstream, `{`+several+`,"balance":{"hash":{"header":"X-User"}},`+
			`"checks":{"path":"/healthz","interval_ms":10000,"timeout_ms":2000,"healthy":2,"unhealthy":3,`+
			`"statuses":[204,"300-302"],"passive_failures":5},"breaker":{"failures":9,"window_ms":10000,`+
			`"open_ms":10000}}`)
		served := w.project(t, id).Versions[0].Environments[0]
		wantTargets(t, "served", served.Upstream, `{`+several+`,"balance":{"hash":{"header":"X-User"}},`+
			`"checks":{"path":"/healthz","statuses":[204,"300-302"]},"breaker":{"failures":9}}`)

		out = update(contract.EnvironmentChange{Upstream: upstreamOf(t,
			`{"targets": [{"url": "https://c.example/v1", "weight": 7}], "balance": {"hash": "owner"},
			"checks": {"path": "", "statuses": ["200-399"]}, "breaker": {"failures": 0}}`)})
		if out.Target != "https://c.example/v1" {
			t.Errorf("the target is %s", out.Target)
		}
		wantTargets(t, "with one target", out.Upstream, `{"balance":{"hash":"owner"},`+defaultChecks+`}`)
		update(contract.EnvironmentChange{Upstream: upstreamOf(t,
			`{"targets": [{"url": "https://c.example"}, {"url": "https://d.example"}], "balance": "round_robin"}`)})
		if out = update(contract.EnvironmentChange{Target: new("https://e.example")}); len(out.Upstream.Targets) != 0 {
			t.Errorf("a target left the targets %v", out.Upstream.Targets)
		}
	})
}

// TestUpdateEnvironment_keptCredentials checks that upstream headers go to no other origin.
func TestUpdateEnvironment_keptCredentials(t *testing.T) {
	w := newHeaderWorld(t, state.OpenSQLite(t))
	change := func(text string) error {
		in := contract.EnvironmentChange{Upstream: upstreamOf(t, text)}.Of(w.id, "1.0.0", w.environment)
		_, err := w.UpdateEnvironment(t.Context(), w.owner, in)
		return err
	}
	const both = `{"targets": [{"url": "https://api.example.com/a"}, {"url": "https://b.example/a"}]}`
	if err := change(both); err != nil {
		t.Fatal(err)
	}
	if err := w.set(t, "X-Upstream-Token", "value"); err != nil {
		t.Fatal(err)
	}
	if err := change(`{"targets": [{"url": "https://b.example"}, {"url": "https://api.example.com"}]}`); err != nil {
		t.Errorf("the same origins: %v", err)
	}
	err := change(`{"targets": [{"url": "https://api.example.com"}, {"url": "https://other.example"}]}`)
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("another origin: %v", err)
	}
}

func TestUpstream_invalidTargets(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	created, p := w.create(t, authenticated)
	id, environment := created.Project.ID, created.Project.Versions[0].Environments[0].ID
	many := `{"url": "https://a.example"}`
	for i := range contract.MostUpstreamTargets {
		many += `, {"url": "https://a` + strconv.Itoa(i) + `.example"}`
	}
	for name, tc := range map[string]struct{ upstream, pointer, code string }{
		"none":     {`{"targets": []}`, "/targets", "required"},
		"too many": {`{"targets": [` + many + `]}`, "/targets", "too_many_targets"},
		"another scheme": {`{"targets": [{"url": "https://a.example"}, {"url": "http://b.example"}]}`,
			"/targets/1/url", "other_scheme"},
		"another path": {`{"targets": [{"url": "https://a.example"}, {"url": "https://b.example/x"}]}`,
			"/targets/1/url", "other_path"},
		"a target twice": {`{"targets": [{"url": "https://a.example"}, {"url": "https://a.example"}]}`,
			"/targets/1/url", "duplicate"},
		"no URL": {`{"targets": [{"url": ""}]}`, "/targets/0/url", "required"},
		"a weight below 0": {`{"targets": [{"url": "https://a.example", "weight": -1}, {"url": "https://b.example"}]}`,
			"/targets/0/weight", "invalid_weight"},
		"a weight too high": {`{"targets": [{"url": "https://a.example", "weight": 65536}]}`,
			"/targets/0/weight", "invalid_weight"},
		"weights of 0": {`{"targets": [{"url": "https://a.example", "weight": 0},
			{"url": "https://b.example", "weight": 0}]}`,
			"/targets", "no_weight"},
		"one weight of 0":   {`{"targets": [{"url": "https://a.example", "weight": 0}]}`, "/targets", "no_weight"},
		"unknown balance":   {`{"balance": "random"}`, "/balance", "invalid_balance"},
		"unknown hash":      {`{"balance": {"hash": "color"}}`, "/balance", "invalid_balance"},
		"no header":         {`{"balance": {"hash": {"header": ""}}}`, "/balance/hash/header", "invalid_header"},
		"not a header":      {`{"balance": {"hash": {"header": "a b"}}}`, "/balance/hash/header", "invalid_header"},
		"no slash":          {`{"checks": {"path": "healthz"}}`, "/checks/path", "invalid_path"},
		"a space":           {`{"checks": {"path": "/a b"}}`, "/checks/path", "invalid_path"},
		"a line break":      {`{"checks": {"path": "/a\r\nX: y"}}`, "/checks/path", "invalid_path"},
		"a dot segment":     {`{"checks": {"path": "/a/../b"}}`, "/checks/path", "invalid_path"},
		"a short interval":  {`{"checks": {"interval_ms": 999}}`, "/checks/interval_ms", "out_of_range"},
		"a long interval":   {`{"checks": {"interval_ms": 3600001}}`, "/checks/interval_ms", "out_of_range"},
		"no timeout":        {`{"checks": {"timeout_ms": 0}}`, "/checks/timeout_ms", "out_of_range"},
		"no healthy check":  {`{"checks": {"healthy": 0}}`, "/checks/healthy", "out_of_range"},
		"no bad check":      {`{"checks": {"unhealthy": 0}}`, "/checks/unhealthy", "out_of_range"},
		"a status too high": {`{"checks": {"statuses": [600]}}`, "/checks/statuses/0", "invalid_status"},
		"an odd range":      {`{"checks": {"statuses": [200, "399-200"]}}`, "/checks/statuses/1", "invalid_status"},
		"a word":            {`{"checks": {"statuses": ["ok"]}}`, "/checks/statuses/0", "invalid_status"},
		"no statuses":       {`{"checks": {"statuses": []}}`, "/checks/statuses", "required"},
		"passive below 0":   {`{"checks": {"passive_failures": -1}}`, "/checks/passive_failures", "out_of_range"},
		"failures below 0":  {`{"breaker": {"failures": -1}}`, "/breaker/failures", "out_of_range"},
		"no window":         {`{"breaker": {"window_ms": 0}}`, "/breaker/window_ms", "out_of_range"},
		"open too long":     {`{"breaker": {"open_ms": 3600001}}`, "/breaker/open_ms", "out_of_range"},
	} {
		t.Run(name, func(t *testing.T) {
			upstream := upstreamOf(t, tc.upstream)
			change := contract.EnvironmentChange{Upstream: upstream}
			_, changed := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", environment))
			live := contract.EnvironmentTarget{Upstream: upstream}
			if upstream.Targets == nil {
				live.Target = authenticated.Target
			}
			_, created := w.CreateEnvironment(t.Context(), p, contract.NewEnvironment{
				Name: "live", Target: live.Target, Upstream: upstream,
			}.In(id, "1.0.0"))
			proxy := authenticated
			proxy.Environments = map[string]contract.EnvironmentTarget{"live": live}
			_, proxied := w.Create(t.Context(), p, proxy)
			for way, in := range map[string]struct {
				prefix string
				err    error
			}{
				"change":          {"", changed},
				"new environment": {"", created},
				"new project":     {"/environments/live", proxied},
			} {
				got := fieldOf(in.err, in.prefix+"/upstream"+tc.pointer)
				if fault.KindOf(in.err) != fault.Invalid || got.Code != tc.code {
					t.Errorf("%s: got %v, want %s", way, in.err, tc.code)
				}
			}
		})
	}
	t.Run("unclaimed", func(t *testing.T) {
		w.CapUnclaimed = true
		defer func() { w.CapUnclaimed = false }()
		for pointer, text := range map[string]string{
			"/targets":     `{"targets": [{"url": "https://a.example"}, {"url": "https://b.example"}]}`,
			"/checks/path": `{"checks": {"path": "/"}}`,
		} {
			change := contract.EnvironmentChange{Upstream: upstreamOf(t, text)}
			_, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", environment))
			if got := fieldOf(err, "/upstream"+pointer); got.Code != "needs_claim" {
				t.Errorf("%s: got %v", pointer, err)
			}
		}
		one := contract.EnvironmentChange{Upstream: upstreamOf(t, `{"targets": [{"url": "https://a.example"}]}`)}
		if _, err := w.UpdateEnvironment(t.Context(), p, one.Of(id, "1.0.0", environment)); err != nil {
			t.Errorf("one target: %v", err)
		}
	})
	t.Run("target and targets", func(t *testing.T) {
		change := contract.EnvironmentChange{
			Target: new("https://a.example"), Upstream: upstreamOf(t, `{"targets": [{"url": "https://a.example"}]}`),
		}
		_, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", environment))
		if got := fieldOf(err, "/upstream/targets"); got.Code != "target_and_targets" {
			t.Errorf("got %v", err)
		}
	})
}

// Settings of TLS are for https targets, also where there are several.
func TestUpdateEnvironment_targetsTLS(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.create(t, projects.CreateInput{Environments: map[string]contract.EnvironmentTarget{
			"prod": {Upstream: upstreamOf(t, `{"targets": [{"url": "https://a.example"}, {"url": "https://b.example"}],
				"server_name": "api.internal"}`)},
		}})
		id, prod := created.Project.ID, created.Project.Versions[0].Environments[0]
		change := contract.EnvironmentChange{
			Upstream: upstreamOf(t, `{"targets": [{"url": "http://a.example"}, {"url": "http://b.example"}]}`),
		}
		_, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", prod.ID))
		refused, ok := errors.AsType[*fault.Error](err)
		if !ok || len(refused.Fields) != 1 || refused.Fields[0].Code != "needs_https" ||
			refused.Fields[0].Pointer != "/upstream/targets" {
			t.Errorf("got %v, want that the server name needs https", err)
		}
		change.Upstream.ServerName = new("")
		out, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", prod.ID))
		if err != nil || out.Target != "http://a.example" || *out.Upstream.ServerName != "" {
			t.Errorf("got %+v, %v", out, err)
		}
	})
}
