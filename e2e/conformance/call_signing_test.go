//go:build conformance

package conformance

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/service/projects"
	"postern/testkit/sample"
	"postern/testkit/verifiers"
)

// Both gateways sign calls so that an independent verifier accepts them, and cover the same.
func TestConformanceCallSigning(t *testing.T) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte("k"), ed25519.SeedSize))
	public, _ := private.Public().(ed25519.PublicKey)
	id := projects.Thumbprint(public)
	encoded, err := x509.MarshalPKCS8PrivateKey(private) // as openssl genpkey -outform DER writes it
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CALL_SIGNING_KEY", base64.StdEncoding.EncodeToString(encoded))
	keySet := json.RawMessage(asText(t, map[string]any{
		"keys": []map[string]string{{"kid": id, "x": base64.RawURLEncoding.EncodeToString(public)}},
	}))
	up := newUpstream(t)
	project, keys := sample.Fresh(up.url, sample.RequiresKeys())
	project.CallSigningKeys = []snapshot.CallSigningKey{{
		ID:        id,
		Public:    public,
		Sealed:    private,
		SignsFrom: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}}
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	postern := startPosternOf(t, up, project, keys)
	active := key(keys["active"])
	signed := func(call Case, by *peer) (outcome, verifiers.Signature) {
		got := by.send(call)
		if len(got.Seen) != 1 {
			t.Fatalf("%s by %s: %d, and the upstream got %d calls", call.Name, by.name, got.Status, len(got.Seen))
		}
		got = got.clone()
		s, err := verifiers.VerifySignature(t, verifiers.SignedRequest{
			Method: got.Seen[0].Method,
			URL:    "https://upstream.example" + got.Seen[0].Target,
			Header: got.Seen[0].Headers,
			Keys:   keySet,
			Tag:    project.Versions[0].Environments[0].ID,
		})
		if err != nil {
			t.Errorf("%s by %s: %v\n%v", call.Name, by.name, err, got.Seen[0].Headers)
		}
		got.Seen[0].Headers.Del("Signature")
		got.Seen[0].Headers.Del("Signature-Input")
		return got, s
	}
	for _, call := range []Case{
		get("signed", prod+"/x?a=b&c=%20%2f", active),
		get("an empty query", prod+"/x?", active),
		get("escaped path", prod+"/a%2fb/%c3%a9", active),
		get("the target itself", prod, active),
		get("forged", prod+"/x", active, "Signature: sig1=:AAAA:", "signature_input: sig1=()",
			"Signature-Agent: \"x\""),
		get("named in Connection", prod+"/x", active, "Connection: Signature, Signature-Input"),
		withBody("with a body", http.MethodPost, projectHost, prod+"/x", "hello", active, "Content-Length: 5"),
		websocket("websocket", prod+"/ws", active),
	} {
		want, wantSigned := signed(call, postern)
		got, gotSigned := signed(call, kong)
		compare(t, call, postern, kong, want, got)
		wantSigned.Parameters.Created = gotSigned.Parameters.Created
		if a, b := asText(t, wantSigned), asText(t, gotSigned); a != b {
			t.Errorf("%s: Postern signs\n%s\nKong\n%s", call.Name, a, b)
		}
	}
}

// A gateway without the key refuses calls instead of forwarding them without a signature.
func TestConformanceCallSigning_withoutKey(t *testing.T) {
	t.Setenv("CALL_SIGNING_KEY", "bm8ga2V5")
	up := newUpstream(t)
	project, keys := sample.Fresh(up.url, sample.RequiresKeys())
	project.CallSigningKeys = []snapshot.CallSigningKey{{ID: "k", Public: []byte("k")}}
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	got := kong.send(get("signed", prod+"/x", key(keys["active"])))
	if len(got.Seen) > 0 {
		t.Error("the call reached the upstream")
	}
	if got.Status != http.StatusServiceUnavailable {
		t.Errorf("status %d", got.Status)
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
