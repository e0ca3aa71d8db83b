package projects_test

import (
	"encoding/json"
	"testing"

	"postern/core/contract"
	"postern/platform/fault"
	"postern/testkit/state"
)

func wantRetries(t *testing.T, what string, got contract.Upstream, want string) {
	t.Helper()
	if text, err := json.Marshal(got.Retries); err != nil || string(text) != want {
		t.Errorf("%s: %s, want %s", what, text, want)
	}
}

func TestUpdateEnvironment_retries(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	created, p := w.create(t, authenticated)
	id, environment := created.Project.ID, created.Project.Versions[0].Environments[0]
	wantRetries(t, "a new environment", environment.Upstream, `{"max":1,"on":[]}`)
	for _, step := range []struct{ change, want, served string }{
		{`{"on":[503,"timeout"]}`, `{"max":1,"on":[503,"timeout"]}`, `{"on":[503,"timeout"]}`},
		{`{"max":0}`, `{"max":0,"on":[503,"timeout"]}`, `{"max":0,"on":[503,"timeout"]}`},
		{`{"max":10,"on":[]}`, `{"max":10,"on":[]}`, `{"max":10,"on":[]}`},
	} {
		var change contract.EnvironmentChange
		if err := json.Unmarshal([]byte(step.change), &change.Upstream.Retries); err != nil {
			t.Fatal(err)
		}
		out, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", environment.ID))
		if err != nil {
			t.Fatal(err)
		}
		wantRetries(t, step.change, out.Upstream, step.want)
		served := w.project(t, id).Versions[0].Environments[0].Upstream
		wantRetries(t, step.change+" as it is served", served, step.served)
	}
}

func TestUpstream_wrongRetries(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	created, p := w.create(t, authenticated)
	w.CapUnclaimed = true
	environment := created.Project.Versions[0].Environments[0].ID
	on := func(all ...contract.RetryCondition) contract.UpstreamRetries {
		return contract.UpstreamRetries{On: &all}
	}
	for name, tc := range map[string]struct {
		set           contract.UpstreamRetries
		pointer, code string
	}{
		"negative":  {contract.UpstreamRetries{Max: new(-1)}, "/max", "out_of_range"},
		"over ten":  {contract.UpstreamRetries{Max: new(11)}, "/max", "out_of_range"},
		"a status":  {on("502", "500"), "/on/1", "invalid_retry_condition"},
		"a word":    {on("connect"), "/on/0", "invalid_retry_condition"},
		"twice":     {on("504", "timeout", "504"), "/on/2", "duplicate"},
		"unclaimed": {contract.UpstreamRetries{Max: new(2)}, "/max", "needs_claim"},
	} {
		change := contract.EnvironmentChange{Upstream: contract.Upstream{Retries: tc.set}}
		_, err := w.UpdateEnvironment(t.Context(), p, change.Of(created.Project.ID, "1.0.0", environment))
		got := fieldOf(err, "/upstream/retries"+tc.pointer)
		if fault.KindOf(err) != fault.Invalid || got.Code != tc.code {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
