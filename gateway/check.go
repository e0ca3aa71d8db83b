package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"postern/core/diagnosis"
	"postern/core/policy"
	"postern/platform/egress"
)

const (
	checkWithin = 15 * time.Second    // for a whole check of a target
	expiresSoon = 14 * 24 * time.Hour // a certificate that ends earlier is worth a warning
)

// CheckTarget sends one request to the upstream of an environment, as a call would be forwarded to it: through the
// same guard, with the same trust, and with the environment's credentials. It returns false if the environment is not
// served. It follows no redirect, and reads nothing of the answer's body.
func (g *Gateway) CheckTarget(ctx context.Context, projectID, environmentID string) (diagnosis.Report, bool) {
	p := g.projectByID(projectID)
	if p == nil {
		return diagnosis.Report{}, false
	}
	for i := range p.versions {
		for j := range p.versions[i].environments {
			if e := &p.versions[i].environments[j]; e.id == environmentID {
				return g.checkTarget(ctx, p, e), true
			}
		}
	}
	return diagnosis.Report{}, false
}

// targetCheck is a check of one environment's upstream.
type targetCheck struct {
	gateway     *Gateway
	environment *environment
	report      diagnosis.Report
	found       *diagnosis.Target
	connected   net.Conn // that no request has used yet; nil: none

	mu    sync.Mutex
	first time.Time // of the first byte of the answer; zero: there was none
}

func (g *Gateway) checkTarget(ctx context.Context, p *project, e *environment) diagnosis.Report {
	c := &targetCheck{gateway: g, environment: e, found: &diagnosis.Target{}}
	c.report.Target = c.found
	if _, ended := p.ended(g.now()); ended || p.takenDown {
		c.report.Fail("connect", "The project is not served at the moment, so nothing is sent to its targets.")
		return c.report
	}
	if p.term != nil && g.caps != nil && e.oddPort {
		c.report.Fail("connect", "Until the project is claimed, calls are forwarded to ports 80 and 443 only.")
		return c.report
	}
	ctx, stop := context.WithTimeout(ctx, checkWithin)
	defer stop()
	conn, ok := c.connect(ctx)
	if !ok {
		return c.report
	}
	c.connected = conn
	defer func() {
		if c.connected != nil {
			_ = c.connected.Close()
		}
	}()
	c.credentials()
	c.ask(ctx)
	return c.report
}

// connect connects, and reports on the steps until there is a connection to send on.
func (c *targetCheck) connect(ctx context.Context) (net.Conn, bool) {
	e := c.environment
	address, name := e.address()
	started := time.Now()
	conn, err := c.gateway.dial(ctx, "tcp", address)
	if err != nil {
		c.report.Fail("connect", "%s", egress.Reason(err))
		return nil, false
	}
	c.found.Addresses = addressClass(conn.RemoteAddr())
	c.report.Pass("connect", "Connected to a %s address in %s.", c.found.Addresses, milliseconds(time.Since(started)))
	if e.scheme != "https" {
		detail := "The target begins with http://: what is sent can be read and changed on the way."
		if c.found.Addresses == diagnosis.Loopback {
			c.report.Skip("tls", "The target is on this machine and uses no TLS.")
		} else {
			c.report.Warn("tls", "%s", detail)
		}
		return conn, true
	}
	config := c.gateway.secure.Clone()
	config.ServerName, config.NextProtos = name, []string{"http/1.1"}
	e.proof.present(config)
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		c.report.Fail("tls", "%s", egress.Reason(err))
		return nil, false
	}
	c.secured(secured.ConnectionState())
	return secured, true
}

func (c *targetCheck) secured(state tls.ConnectionState) {
	c.found.TLSVersion = tls.VersionName(state.Version)
	if len(state.PeerCertificates) == 0 {
		c.report.Pass("tls", "%s.", c.found.TLSVersion)
		return
	}
	ends := state.PeerCertificates[0].NotAfter
	c.found.CertificateExpires = ends.UTC()
	left := ends.Sub(c.gateway.now())
	detail := fmt.Sprintf("%s; the certificate is valid until %s, for another %d days.", c.found.TLSVersion,
		ends.UTC().Format(time.DateOnly), int(left/(24*time.Hour)))
	if left < expiresSoon {
		c.report.Warn("tls", "%s Renew it.", detail)
		return
	}
	c.report.Pass("tls", "%s", detail)
}

// credentials reports what the request carries to show where it comes from.
func (c *targetCheck) credentials() {
	proof := c.environment.proof
	var carried []string
	if proof != nil {
		for _, h := range proof.headers {
			carried = append(carried, "the header "+h.name)
		}
		if proof.certificate != nil {
			carried = append(carried, "the client certificate")
		}
		if proof.signer != nil {
			carried = append(carried, "a signature")
		}
	}
	if len(carried) == 0 {
		c.report.Skip("credentials", "The environment has no upstream credentials: the upstream cannot tell this "+
			"project from another caller.")
		return
	}
	c.report.Pass("credentials", "The request carries %s.", strings.Join(carried, ", "))
}

// ask sends HEAD, and GET where the upstream does not take HEAD.
func (c *targetCheck) ask(ctx context.Context) {
	transport := &http.Transport{
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: c.gateway.limits.ResponseBytes,
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		if conn := c.connected; conn != nil {
			c.connected = nil
			return conn, nil
		}
		again := &targetCheck{gateway: c.gateway, environment: c.environment, found: &diagnosis.Target{}}
		if conn, ok := again.connect(ctx); ok {
			return conn, nil
		}
		return nil, net.ErrClosed
	}
	transport.DialContext, transport.DialTLSContext = dial, dial
	defer transport.CloseIdleConnections()
	method := http.MethodHead
	response, err := c.send(ctx, transport, method)
	unsupported := []int{http.StatusMethodNotAllowed, http.StatusNotImplemented}
	if err == nil && slices.Contains(unsupported, response.StatusCode) {
		method = http.MethodGet
		response, err = c.send(ctx, transport, method)
	}
	if err != nil {
		c.report.Fail("answer", "%s", egress.Reason(err))
		return
	}
	c.answered(method, response)
}

func (c *targetCheck) send(ctx context.Context, transport *http.Transport, method string) (*http.Response, error) {
	e := c.environment
	path := policy.JoinTarget(e.path, "/")
	request, err := http.NewRequestWithContext(ctx, method, e.scheme+"://"+e.host+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "postern-check")
	e.proof.lines(request.Header.Set)
	if e.proof.signs() {
		s := newSignature()
		s.cover("@method", method)
		s.cover("@path", path)
		s.cover("@query", "?") // RFC 9421, section 2.2.7
		now := c.gateway.now()
		key := e.proof.signer.at(now)
		input, value := s.sign(key.private, signatureParams{now.Unix(), key.id, "ed25519", e.id})
		request.Header.Set(signatureInputHeader, signatureLabel+"="+input)
		request.Header.Set(signatureHeader, signatureLabel+"=:"+value+":")
	}
	sent := time.Now()
	c.mu.Lock()
	c.first = time.Time{}
	c.mu.Unlock()
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.first = time.Now()
	}}
	response, err := transport.RoundTrip(request.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.first.IsZero() {
		c.found.FirstByte = c.first.Sub(sent)
	}
	return response, nil
}

func (c *targetCheck) answered(method string, response *http.Response) {
	c.found.Status = response.StatusCode
	says := fmt.Sprintf("%s %s is answered %d, the first byte after %s.", method,
		policy.JoinTarget(c.environment.path, "/"), response.StatusCode, milliseconds(c.found.FirstByte))
	switch status := response.StatusCode; {
	case status >= http.StatusInternalServerError:
		c.report.Warn("answer", "%s The upstream is reached, but fails.", says)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		c.report.Warn("answer", "%s The upstream is reached, and refuses a call without a caller. Check that it knows "+
			"this environment's credentials.", says)
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		c.report.Pass("answer", "%s The gateway follows no redirect; callers get it.", says)
	case status >= http.StatusBadRequest:
		c.report.Pass("answer", "%s The upstream is reached; it need not have anything at its base path.", says)
	default:
		c.report.Pass("answer", "%s", says)
	}
}

// address returns the host and port to dial, and the name that the upstream's certificate must have.
func (e *environment) address() (address, name string) {
	if name, _, err := net.SplitHostPort(e.host); err == nil {
		return e.host, name
	}
	port := "80" // the scheme's
	if e.scheme == "https" {
		port = "443"
	}
	name = strings.Trim(e.host, "[]")
	return net.JoinHostPort(name, port), name
}

func addressClass(addr net.Addr) diagnosis.AddressClass {
	parsed, err := netip.ParseAddrPort(addr.String())
	switch ip := parsed.Addr().Unmap(); {
	case err == nil && ip.IsLoopback():
		return diagnosis.Loopback
	case err == nil && ip.IsGlobalUnicast() && !ip.IsPrivate():
		return diagnosis.Public
	}
	return diagnosis.Private
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
