package app_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/platform/config"
	"postern/testkit"
)

// renew writes a certificate of that name, and its key, to the files of the setting.
func renew(t *testing.T, files config.KeyPair, name string) (cert []byte) {
	t.Helper()
	cert, key := testkit.Certificate(t, name)
	for file, content := range map[string][]byte{files.CertFile: cert, files.KeyFile: key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// presented returns the name on the certificate that a listener presents.
func presented(t *testing.T, address string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", hostOf(t, address), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestTLS_bothListeners(t *testing.T) {
	dir := t.TempDir()
	c := settings(dir, "")
	c.GatewayTLS = config.KeyPair{
		CertFile: filepath.Join(dir, "gateway.crt"),
		KeyFile:  filepath.Join(dir, "gateway.key"),
	}
	c.ControlTLS = config.KeyPair{
		CertFile: filepath.Join(dir, "control.crt"),
		KeyFile:  filepath.Join(dir, "control.key"),
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(renew(t, c.GatewayTLS, "gateway.old"))
	roots.AppendCertsFromPEM(renew(t, c.ControlTLS, "control.old"))
	upstream := testkit.NewUpstream(t)
	a := newApp(t, c)
	during(t, a, func(browser *http.Client) {
		browser.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
		defer browser.CloseIdleConnections()
		if !strings.HasPrefix(a.Config.PublicURL, "https://") {
			t.Errorf("the control plane is shown as %s", a.Config.PublicURL)
		}
		if status, body := get(t, browser, a.Config.PublicURL+"/readyz"); status != http.StatusOK {
			t.Errorf("not ready: %d %s", status, body)
		}
		body := strings.NewReader(`{"name": "shop", "target": "` + upstream.URL + `"}`)
		answer, err := browser.Post(a.Config.PublicURL+"/proxy", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		var made struct {
			Project struct{ Environments []struct{ URL string } }
		}
		err = json.NewDecoder(answer.Body).Decode(&made)
		if answer.Body.Close(); err != nil || answer.ProtoMajor != 2 {
			t.Fatalf("%s, %v; want an answer over HTTP/2", answer.Proto, err)
		}
		shown := made.Project.Environments[0].URL
		if !strings.HasPrefix(shown, a.Config.GatewayURL+"/") || !strings.HasPrefix(shown, "https://") {
			t.Errorf("the project is shown at %s", shown)
		}
		if status, body := get(t, browser, shown+"/hello"); status != http.StatusOK {
			t.Errorf("%s answers %d %s", shown, status, body)
		}

		renew(t, c.GatewayTLS, "gateway.new")
		renew(t, c.ControlTLS, "control.new")
		for address, want := range map[string]string{
			a.Config.GatewayURL: "gateway.new",
			a.Config.PublicURL:  "control.new",
		} {
			testkit.Await(t, address+" has "+want, func() (string, bool) {
				got := presented(t, address)
				return got, got == want
			})
		}
	})
}

func TestTLS_unreadableCertificate(t *testing.T) {
	for flag, set := range testkit.ByName(map[string]func(*config.Config, config.KeyPair){
		"--gateway-tls-cert": func(c *config.Config, p config.KeyPair) { c.GatewayTLS = p },
		"--control-tls-cert": func(c *config.Config, p config.KeyPair) { c.ControlTLS = p },
	}) {
		c := settings(t.TempDir(), "")
		set(&c, config.KeyPair{
			CertFile: filepath.Join(c.DataDir, "none.crt"),
			KeyFile:  filepath.Join(c.DataDir, "none.key"),
		})
		if got := refused(t, c); !strings.Contains(got, flag) || !strings.Contains(got, "none.crt") {
			t.Errorf("%s: %s", flag, got)
		}
	}
}
