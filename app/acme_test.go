package app_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postern/app"
	"postern/platform/config"
	"postern/testkit"
	"postern/testkit/ports"
	"postern/testkit/servers"
)

// ask sends a JSON request with the browser's session, and reads the answer into out.
func ask(t *testing.T, browser *http.Client, method, address, body string, out any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := browser.Do(request)
	status, text := read(t, answer, err)
	if status >= 300 {
		t.Fatalf("%s %s answers %d %s", method, address, status, text)
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%s %s answers %s: %v", method, address, text, err)
	}
}

// addDomain gives a project in the account's team a verified host name, which leads to an
// upstream.
func addDomain(t *testing.T, a *app.App, browser *http.Client, names *servers.NameServer, host, target string) {
	t.Helper()
	if status, body := post(t, browser, a.FirstLink, ana); status != http.StatusOK {
		t.Fatalf("create the account: %d %s", status, body)
	}
	var made struct{ Project struct{ Name string } }
	ask(t, browser, http.MethodPost, a.Config.PublicURL+"/proxy", `{"name": "shop", "target": "`+target+`"}`, &made)
	domains := a.Config.PublicURL + "/api/v1/projects/" + made.Project.Name + "/domains"
	var added struct{ Record struct{ Name, Value string } }
	ask(t, browser, http.MethodPost, domains, `{"host": "`+host+`", "environment": "prod"}`, &added)
	names.Set(added.Record.Name, added.Record.Value)
	var verified struct{ State string }
	ask(t, browser, http.MethodPost, domains+"/"+host+"/verify", "", &verified)
	if verified.State != "verified" {
		t.Fatalf("the name is %s", verified.State)
	}
}

// A verified name gets a certificate that callers trust, from a real ACME server, which checks
// the name at the gateway itself.
func TestACME_verifiedHostNames(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		const host = "api.shop.test"
		names, upstream := servers.StartNameServer(t), testkit.NewUpstream(t)
		names.Point(host)
		c := withGatewayTLS(t, settings(t.TempDir(), databaseURL))
		c.GatewayAddr = ports.Address(t)
		server := servers.StartPebble(t, servers.PebbleOptions{
			TLSPort:    int(netip.MustParseAddrPort(c.GatewayAddr).Port()),
			NameServer: names.Addr,
			Lifetime:   24 * time.Hour,
		})
		c.DNSServer = names.Addr
		c.ACME.Directory, c.ACME.RootsFile, c.ACME.TermsAgreed = server.Directory, server.RootsFile, true
		to := servers.StartCollector(t)
		c.Traces = config.Traces{Endpoint: to.URL, Ratio: 1}
		a := newApp(t, c)
		during(t, a, func(browser *http.Client) {
			if got := presentedFor(t, a, host); got != "gateway.test" {
				t.Errorf("before it is verified, the name gets the certificate of %s", got)
			}
			addDomain(t, a, browser, names, host, upstream.URL)
			caller := &http.Client{Transport: &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: server.Issued},
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "tcp", a.Config.GatewayAddr)
				},
			}}
			defer caller.CloseIdleConnections()
			answer := testkit.Await(t, "an answer over TLS", func() (*http.Response, bool) {
				answer, err := caller.Get("https://" + host + "/orders")
				return answer, err == nil
			})
			if status, body := read(t, answer, nil); status != http.StatusOK || !strings.Contains(body, "/orders") {
				t.Errorf("the name answers %d %s, want the upstream's answer", status, body)
			}
			if got := presentedFor(t, a, "other.test"); got != "gateway.test" {
				t.Errorf("another name gets the certificate of %s", got)
			}
		})
		attempt := to.Await(t, func(s servers.Span) bool { return s.Name == "certificate" })
		to.Await(t, func(s servers.Span) bool { return s.Name == "POST acme" && s.Parent == attempt.ID })
		if strings.Contains(to.Text(), host) {
			t.Error("the host name is in the spans")
		}
	})
}

// A handshake that offers acme-tls/1 alone is a check of an ACME server, which has nothing to
// do at names without an order.
func TestACME_unknownChallenge(t *testing.T) {
	c := withGatewayTLS(t, settings(t.TempDir(), ""))
	c.ACME.Directory, c.ACME.TermsAgreed = "https://127.0.0.1:1/dir", true
	a := newApp(t, c)
	during(t, a, func(*http.Client) {
		conn, err := tls.Dial("tcp", a.Config.GatewayAddr, &tls.Config{
			InsecureSkipVerify: true,
			ServerName:         "api.shop.test",
			NextProtos:         []string{"acme-tls/1"},
		})
		if err == nil {
			_ = conn.Close()
			t.Error("the handshake succeeded")
		}
	})
}

func TestACME_unreadableRoots(t *testing.T) {
	c := withGatewayTLS(t, settings(t.TempDir(), ""))
	c.ACME.Directory, c.ACME.TermsAgreed = "https://127.0.0.1:1/dir", true
	c.ACME.RootsFile = filepath.Join(c.DataDir, "gateway.key") // no certificate
	if got := refused(t, c); !strings.Contains(got, "--acme-roots") || !strings.Contains(got, "gateway.key") {
		t.Errorf("the error is %q", got)
	}
}
