package ratelimit

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/traces"
	"postern/testkit/servers"
)

func TestRedis_spans(t *testing.T) {
	server, to := servers.StartRedis(t), servers.StartCollector(t)
	log := slog.New(slog.DiscardHandler)
	tracer, err := traces.Open(traces.Options{Endpoint: to.URL, Ratio: 1, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRedis(RedisOptions{URL: server.URL(), Wait: 30 * time.Second, Log: log, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	limits := realm(snapshot.Limits{snapshot.Hour: 100}, snapshot.Limits{})
	take(t, r, limits, "key_before", noon) // not recorded
	ctx, span := tracer.Begin(t.Context(), traces.Begin{Name: "call"})
	var tally policy.Tally
	limits.Tally(&tally, &policy.Identity{CredentialID: "key_quarz"}, &snapshot.Key{}, "192.0.2.7", noon)
	for range 2 {
		if err := r.Take(ctx, &tally); err != nil {
			t.Fatal(err)
		}
	}
	span.End()
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := to.Spans()
	if len(spans) != 3 {
		t.Fatalf("got %d spans, want those of the call and of two commands: %+v", len(spans), spans)
	}
	for _, s := range spans[:2] {
		if s.Name != "EVALSHA" || s.Kind != "client" || s.Failed || s.Parent != spans[2].ID ||
			s.Attrs["db.system.name"] != "redis" || s.Attrs["db.operation.name"] != "EVALSHA" ||
			s.Attrs["server.address"] != "127.0.0.1" || s.Attrs["server.port"] == "" {
			t.Errorf("got %+v", s)
		}
	}
	if strings.Contains(to.Text(), "quarz") || strings.Contains(to.Text(), "prj_") {
		t.Errorf("a key is in the spans: %s", to.Text())
	}
}
