package projects_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

const defaultTimeouts = `{"timeouts":{"connect_ms":10000,"response_ms":60000,"idle_ms":60000,` +
	`"stream_idle_ms":600000,"reuse_idle_ms":4000}}`

// wantUpstream checks the timeouts of settings, which are in their own object.
func wantUpstream(t *testing.T, what string, got contract.Upstream, want string) {
	t.Helper()
	if text, err := json.Marshal(contract.Upstream{Timeouts: got.Timeouts}); err != nil || string(text) != want {
		t.Errorf("%s: %s, want %s", what, text, want)
	}
}

func TestUpdateEnvironment_timeouts(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Environments = map[string]contract.EnvironmentTarget{
			"prod": {Upstream: contract.Upstream{Timeouts: contract.UpstreamTimeouts{ConnectMS: new(500)}}},
			"dev":  {},
		}
		created, p := w.create(t, in)
		id, version := created.Project.ID, created.Project.Versions[0]
		wantUpstream(t, "a new environment", version.Environments[0].Upstream, defaultTimeouts)
		wantUpstream(t, "one with a timeout", version.Environments[1].Upstream,
			`{"timeouts":{"connect_ms":500,"response_ms":60000,"idle_ms":60000,"stream_idle_ms":600000,`+
				`"reuse_idle_ms":4000}}`)
		prod := version.Environments[1].ID
		change := contract.EnvironmentChange{Upstream: contract.Upstream{Timeouts: contract.UpstreamTimeouts{
			ResponseMS: new(3_600_000), StreamIdleMS: new(86_400_000),
		}}}
		out, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", prod))
		if err != nil {
			t.Fatal(err)
		}
		wantUpstream(t, "after a change", out.Upstream,
			`{"timeouts":{"connect_ms":500,"response_ms":3600000,"idle_ms":60000,"stream_idle_ms":86400000,`+
				`"reuse_idle_ms":4000}}`)
		served := w.project(t, id).Versions[0].Environments[1].Upstream
		wantUpstream(t, "served", served, // what isn't set has the default of the gateway
			`{"timeouts":{"connect_ms":500,"response_ms":3600000,"stream_idle_ms":86400000}}`)
		entries, err := db.Read(t.Context()).AuditOf(p.HomeTeam, 1)
		if err != nil {
			t.Fatal(err)
		}
		const at = "versions/1.0.0/environments/prod/upstream/timeouts/"
		if got := slices.Sorted(maps.Keys(entries[0].Changes)); !slices.Equal(got,
			[]string{at + "response_ms", at + "stream_idle_ms"}) {
			t.Errorf("the audit entry has changes of %q", got)
		}
		if change := entries[0].Changes[at+"response_ms"]; change.Before != 60_000.0 || change.After != 3_600_000.0 {
			t.Errorf("the audit entry says %v", change)
		}
		if got := entries[0].Detail["change"]; got != "upstream settings of "+prod {
			t.Errorf("the audit entry is about the %s", got)
		}
		copied, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2.0.0"}.In(id))
		if err != nil {
			t.Fatal(err)
		}
		wantUpstream(t, "a copy", copied.Environments[1].Upstream,
			`{"timeouts":{"connect_ms":500,"response_ms":3600000,"idle_ms":60000,"stream_idle_ms":86400000,`+
				`"reuse_idle_ms":4000}}`)
	})
}

func TestUpstream_outOfRange(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	created, p := w.create(t, authenticated)
	id, target := created.Project.ID, authenticated.Target
	environment := created.Project.Versions[0].Environments[0].ID
	for name, tc := range map[string]struct {
		set     contract.UpstreamTimeouts
		pointer string // within the timeouts
	}{
		"zero":            {contract.UpstreamTimeouts{ConnectMS: new(0)}, "connect_ms"},
		"negative":        {contract.UpstreamTimeouts{ResponseMS: new(-1)}, "response_ms"},
		"over an hour":    {contract.UpstreamTimeouts{IdleMS: new(3_600_001)}, "idle_ms"},
		"over 24 hours":   {contract.UpstreamTimeouts{StreamIdleMS: new(86_400_001)}, "stream_idle_ms"},
		"no reuse at all": {contract.UpstreamTimeouts{ReuseIdleMS: new(0)}, "reuse_idle_ms"},
	} {
		upstream := contract.Upstream{Timeouts: tc.set}
		live := map[string]contract.EnvironmentTarget{"live": {Target: target, Upstream: upstream}}
		for way, in := range map[string]struct {
			prefix string
			do     func() error
		}{
			"change": {"", func() error {
				change := contract.EnvironmentChange{Upstream: upstream}
				_, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", environment))
				return err
			}},
			"new environment": {"", func() error {
				added := contract.NewEnvironment{Name: "live", Target: target, Upstream: upstream}
				_, err := w.CreateEnvironment(t.Context(), p, added.In(id, "1.0.0"))
				return err
			}},
			"new version": {"/environments/live", func() error {
				_, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2", Environments: live}.In(id))
				return err
			}},
			"new project": {"/environments/live", func() error {
				proxy := authenticated
				proxy.Environments = live
				_, err := w.Create(t.Context(), p, proxy)
				return err
			}},
		} {
			err := in.do()
			got := fieldOf(err, in.prefix+"/upstream/timeouts/"+tc.pointer)
			if fault.KindOf(err) != fault.Invalid || got.Code != "out_of_range" {
				t.Errorf("%s, %s: got %v", name, way, err)
			}
		}
	}
}
