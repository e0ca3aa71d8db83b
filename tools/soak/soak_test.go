package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSoak_onPostgres is a short run of the whole, with the faults that need no long time. `make soak`
// runs all of them for ten minutes.
func TestSoak_onPostgres(t *testing.T) {
	s := settings{
		duration: 10 * time.Second,
		share:    0.7,
		rate:     90,
		changes:  10,
		keys:     100,
		drain:    1200 * time.Millisecond,
		check:    250 * time.Millisecond,
		probe:    time.Second,
		rest:     500 * time.Millisecond,
		outage:   2500 * time.Millisecond,
		logs:     t.TempDir(),
	}
	kills := ending[1:3]
	rolling := fault{name: "rolling restart", happens: func(ctx context.Context, r *run) error {
		return r.replace(ctx, r.in.gateways[0], r.in.control[0], r.in.gateways[1])
	}}
	named := func(name string) fault {
		return enduring[slices.IndexFunc(enduring, func(f fault) bool { return f.name == name })]
	}
	// Work that the control replica or the database had begun is held for a while: first, so that it is repeated next
	// to the others.
	s.ending = append(s.ending, kills[1], named("database crashed"), rolling, kills[0])
	s.enduring = append(s.enduring, named("gateway frozen"), named("control replica frozen"), named("Redis killed"))
	r, err := soak(t.Context(), filepath.Join("..", ".."), s)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	r.report(&table)
	t.Logf("\n%s", &table)
	if err := r.failures(); err != nil {
		t.Error(err)
		for _, name := range []string{"a", "b", "c", "d", "haproxy"} {
			log, err := os.ReadFile(filepath.Join(s.logs, name+".log"))
			t.Logf("log of %s (%v):\n%s", name, err, log[max(0, len(log)-4096):])
		}
	}
	for _, phase := range []string{
		"measuring capacity", "calm", "control replica killed", "database crashed", "rolling restart", "gateway killed",
		"gateway frozen", "control replica frozen", "Redis killed", "reading back",
	} {
		if !strings.Contains(table.String(), "\n"+phase) {
			t.Errorf("the table has no line for %q", phase)
		}
	}
	for _, p := range r.phases.order {
		if p.calls == 0 || p.changes == 0 {
			t.Errorf("%s: %d calls and %d requests to the control plane", p.fault.name, p.calls, p.changes)
		}
	}
	if r.counted.exact == 0 || r.counted.refused == 0 {
		t.Errorf("limits: %d windows, %d by one count, %d calls refused", r.counted.windows, r.counted.exact,
			r.counted.refused)
	}
	if r.exports == 0 || r.compared == 0 {
		t.Errorf("%d exports were verified and %d keys read back", r.exports, r.compared)
	}
}

// TestHAProxyConfig_documentation: what the soak runs is what operators copy.
func TestHAProxyConfig_documentation(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "replicas.md"))
	if err != nil {
		t.Fatal(err)
	}
	control := []*replica{{name: "x", address: "127.0.0.1:1"}}
	gateways := []*replica{{name: "y", address: "127.0.0.1:2"}}
	got, err := haproxyConfig(string(page), "127.0.0.1:80", control, gateways, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"    bind 127.0.0.1:80\n",
		"backend control\n    option httpchk GET /readyz\n    server x 127.0.0.1:1 check inter 1000ms\n",
		"backend gateway\n    option httpchk GET /readyz\n    server y 127.0.0.1:2 check inter 1000ms\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the configuration has no %q:\n%s", want, got)
		}
	}
	if _, err := haproxyConfig("no configuration", "127.0.0.1:80", control, gateways, time.Second); err == nil {
		t.Error("a page without a configuration is taken")
	}
}
