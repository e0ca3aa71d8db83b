package app_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/app"
	"postern/platform/config"
	"postern/testkit"
)

// withGatewayTLS gives the gateway a certificate for gateway.test.
func withGatewayTLS(t *testing.T, c config.Config) config.Config {
	t.Helper()
	c.GatewayTLS = config.KeyPair{
		CertFile: filepath.Join(c.DataDir, "gateway.crt"),
		KeyFile:  filepath.Join(c.DataDir, "gateway.key"),
	}
	renew(t, c.GatewayTLS, "gateway.test")
	return c
}

// presentedFor returns the name on the certificate that the gateway presents for a host name.
func presentedFor(t *testing.T, a *app.App, host string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", a.Config.GatewayAddr, &tls.Config{InsecureSkipVerify: true, ServerName: host})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// waitFor waits until the gateway presents the certificate of a name for a host name.
func waitFor(t *testing.T, a *app.App, host, want string) {
	t.Helper()
	testkit.Await(t, host+" gets the certificate of "+want, func() (string, bool) {
		got := presentedFor(t, a, host)
		return got, got == want
	})
}

func TestCertificateDirectory_hostNames(t *testing.T) {
	c := withGatewayTLS(t, settings(t.TempDir(), ""))
	c.GatewayTLSDir = filepath.Join(c.DataDir, "names")
	if err := os.Mkdir(c.GatewayTLSDir, 0o700); err != nil {
		t.Fatal(err)
	}
	a := newApp(t, c)
	during(t, a, func(*http.Client) {
		if got := presentedFor(t, a, "api.shop.test"); got != "gateway.test" {
			t.Errorf("without files the name gets the certificate of %s", got)
		}
		renew(t, config.KeyPair{
			CertFile: filepath.Join(c.GatewayTLSDir, "shop.crt"),
			KeyFile:  filepath.Join(c.GatewayTLSDir, "shop.key"),
		}, "api.shop.test")
		waitFor(t, a, "api.shop.test", "api.shop.test")
		if got := presentedFor(t, a, "other.test"); got != "gateway.test" {
			t.Errorf("another name gets the certificate of %s", got)
		}
	})
}

func TestCertificateDirectory_missing(t *testing.T) {
	c := withGatewayTLS(t, settings(t.TempDir(), ""))
	c.GatewayTLSDir = filepath.Join(c.DataDir, "missing")
	if got := refused(t, c); !strings.Contains(got, "--gateway-tls-dir") || !strings.Contains(got, "missing") {
		t.Errorf("the error is %q", got)
	}
}
