package federation_test

import (
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/platform/federation"
	"postern/platform/traces"
	"postern/testkit"
	"postern/testkit/idp"
	"postern/testkit/servers"
)

// A fetch of keys belongs to the trace of the caller that needs them, though go-oidc fetches with another context: not
// to that of the first caller, which has ended long ago.
func TestKeySet_trace(t *testing.T) {
	to := servers.StartCollector(t)
	tracer, err := traces.Open(traces.Options{Endpoint: to.URL, Ratio: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	key, next := idp.KeyOf(jose.ES256, "one"), idp.KeyOf(jose.ES256, "two")
	issuer := idp.StartIssuer(t, time.Now(), key)
	client := traces.HTTPClient(&http.Client{Transport: &http.Transport{}}, "provider")
	defer client.CloseIdleConnections()
	keys := federation.NewKeySet(federation.KeyClient(client), issuer.URL+"/jwks.json", nil)
	var fetched []string
	for _, k := range []idp.Key{key, next} {
		issuer.Publish(k)
		ctx, span := tracer.Begin(t.Context(), traces.Begin{Name: "sign-in"})
		token := k.Sign(t, nil, issuer.Claims())
		// go-oidc answers from the fetch before until it has noted that it has ended.
		testkit.Eventually(t, "the key to be fetched", func() bool {
			_, err := keys.VerifySignature(ctx, token)
			return err == nil
		})
		span.End()
		fetched = append(fetched, span.TraceID())
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, trace := range fetched {
		to.Await(t, func(s servers.Span) bool { return s.Trace == trace && s.Name == "GET jwks" && !s.Failed })
	}
}

// A key that its issuer has withdrawn verifies nothing 60 s after it was fetched; keys are fetched again before that,
// while tokens come.
func TestKeySet_withdrawn(t *testing.T) {
	key, next := idp.KeyOf(jose.ES256, "one"), idp.KeyOf(jose.ES256, "two")
	issuer := idp.StartIssuer(t, time.Now(), key)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var offset atomic.Int64
	began := time.Now()
	now := func() time.Time { return began.Add(time.Duration(offset.Load())) }
	keys := federation.NewKeySet(federation.KeyClient(client), issuer.URL+"/jwks.json", now)
	token := key.Sign(t, nil, issuer.Claims())
	verifies := func() bool { _, err := keys.VerifySignature(t.Context(), token); return err == nil }
	if !verifies() {
		t.Fatal("the issuer's key doesn't verify")
	}
	issuer.Publish(next)
	offset.Store(int64(29 * time.Second))
	if !verifies() {
		t.Error("the keys are fetched again after 29 s")
	}
	offset.Store(int64(60 * time.Second))
	if verifies() {
		t.Error("the withdrawn key verifies after 60 s")
	}
	issuer.Publish(key)
	offset.Store(int64(120 * time.Second))
	if !verifies() {
		t.Error("the key doesn't verify once it is published again")
	}
	issuer.Publish(next)
	offset.Store(int64(150 * time.Second))
	testkit.Eventually(t, "a fetch in the background", func() bool { return !verifies() })
}
