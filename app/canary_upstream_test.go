package app_test

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/projects"
	"postern/testkit"
	"postern/views/ui"
)

// useUpstreamCredentials has the project shop authenticate its calls to upstreams in each way, after wrong attempts
// through the API and the dashboard. key is valid for the project at address.
func (a *canaryTest) useUpstreamCredentials(address, key string) {
	a.Helper()
	upstream := httptest.NewUnstartedServer(http.NotFoundHandler())
	upstream.Config.ErrorLog = log.New(io.Discard, "", 0) // the gateway does not trust it
	upstream.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	upstream.StartTLS()
	a.Cleanup(upstream.Close)
	status, text := a.send("POST", "/api/v1/projects/shop/versions/1.0.0/environments", "application/json",
		`{"name":"secure","target":"`+upstream.URL+`"}`)
	var made, shop struct{ ID string }
	if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusCreated {
		a.Fatalf("an environment: %d %s", status, text)
	}
	status, text = a.send("GET", "/api/v1/projects/shop", "", "")
	if err := json.Unmarshal([]byte(text), &shop); err != nil || shop.ID == "" {
		a.Fatalf("the project: %d %s", status, text)
	}
	a.project = shop.ID
	environment := "/projects/shop/versions/1.0.0/environments/" + made.ID
	a.setHeaders(environment)
	a.setCertificates(environment)
	if status, text := a.send("PUT", "/api/v1/projects/shop/call-signing", "", ""); status != http.StatusOK {
		a.Fatalf("sign calls: %d %s", status, text)
	}
	to := strings.Replace(address, "/prod", "/secure", 1) + "/x"
	if status, text := a.send("GET", to, "", "", "X-API-Key", key); status != http.StatusBadGateway {
		a.Fatalf("a call to an upstream that is not trusted: %d %s", status, text)
	}
	for _, page := range []string{
		environment + "/upstream-headers",
		environment + "/client-certificate",
		"/projects/shop/call-signing",
	} {
		a.capture("page "+page, page, http.StatusOK)
		a.capture("API "+page, "/api/v1"+page, http.StatusOK)
	}
}

func (a *canaryTest) setHeaders(environment string) {
	a.Helper()
	path, page := "/api/v1"+environment+"/upstream-headers/", environment+"/upstream-headers"
	put := func(name, value string) int {
		status, _ := a.send("PUT", path+name, "application/json", `{"value":"`+value+`"}`)
		return status
	}
	if status := put("X-Upstream-Token", a.new("an upstream header's value")); status >= 300 {
		a.Fatalf("set an upstream header: %d", status)
	}
	put("X-Consumer-ID", a.new("the value of a header with a wrong name"))
	put("X-Wrong", a.new("a wrong value of a header")+`\n`)
	a.form(page, "name", "X-Consumer-ID", "secret_value", a.new("a value in a wrong form"))
	a.form(page, "name", "X-A", "secret_value", a.new("a value in an old form"), ui.NonceField, "old")
}

func (a *canaryTest) setCertificates(environment string) {
	a.Helper()
	path, page := "/api/v1"+environment+"/client-certificate", environment+"/client-certificate"
	send := func(chain, key []byte) int {
		body, err := json.Marshal(map[string]string{"certificate": string(chain), "private_key": string(key)})
		if err != nil {
			a.Fatal(err)
		}
		status, _ := a.send("PUT", path, "application/json", string(body))
		a.form(page, "certificate", string(chain), "private_key", string(key))
		a.form(page, "certificate", string(chain), "private_key", string(key), ui.NonceField, "old")
		return status
	}
	chain, key := a.certificate("a client certificate")
	_, other := a.certificate("another client certificate")
	send(chain, other)
	send(slices.Concat(chain, key), key)
	send(chain, slices.Concat(other[:len(other)-40], []byte(a.new("behind a private key that was cut off"))))
	if status := send(chain, key); status >= 300 {
		a.Fatalf("set a client certificate: %d", status)
	}
}

// certificate returns a new certificate with its key, which becomes a canary.
func (a *canaryTest) certificate(what string) (chain, key []byte) {
	a.Helper()
	chain, key = testkit.Certificate(a, "client.test")
	block, _ := pem.Decode(key)
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		a.Fatal(err)
	}
	a.addKey("the private key of "+what, private)
	return chain, key
}

func (a *canaryTest) addKey(what string, key any) {
	a.Helper()
	for how, trace := range testkit.KeyTraces(a, key) {
		a.canaries[what+", "+how] = trace
	}
}

// addSigningKeys makes canaries of the keys that sign the project's calls: only the database has
// them.
func (a *canaryTest) addSigningKeys(tx *models.Tx) {
	a.Helper()
	kept, err := os.ReadFile(filepath.Clean(a.settings.SecretsKeyFile()))
	if err != nil {
		a.Fatal(err)
	}
	vault, err := secrets.NewVault(secrets.Secret(kept))
	if err != nil {
		a.Fatal(err)
	}
	keys, err := tx.CallSigningKeysOf(a.project)
	if err != nil || len(keys) != 1 {
		a.Fatalf("%d keys that sign calls, %v", len(keys), err)
	}
	sealed := keys[0]
	seed, err := vault.Open(tx, projects.SigningKeyPlace(sealed.ProjectID, sealed.ID), sealed.PrivateKey)
	if err != nil {
		a.Fatal(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(seed.Reveal())
	if err != nil || len(raw) != ed25519.SeedSize {
		a.Fatalf("a seed of %d bytes, %v", len(raw), err)
	}
	a.addKey("a key that signs calls", ed25519.NewKeyFromSeed(raw))
}
