package gateway

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"postern/core/diagnosis"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway/engine"
)

const (
	checkWithin = 15 * time.Second    // for a whole check of a target
	expiresSoon = 14 * 24 * time.Hour // a certificate that ends earlier is worth a warning
)

// CheckTarget sends one request to an environment's upstream in the same way as calls: through the same guard, with the
// same trusted authorities, and with the environment's credentials. It returns false if the environment isn't served.
// It doesn't follow redirects or read the response's body.
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
	endpoint    *endpoint
	report      diagnosis.Report
	found       *diagnosis.Target

	negotiated       string // by ALPN; "": nothing
	wantsCertificate bool   // the server asked for a client certificate
}

func (g *Gateway) checkTarget(ctx context.Context, p *project, e *environment) diagnosis.Report {
	c := &targetCheck{gateway: g, environment: e, endpoint: e.first(), found: &diagnosis.Target{}}
	c.report.Target = c.found
	if _, ended := p.ended(g.now()); ended || p.takenDown {
		c.report.Fail("connect", "The project isn't being served, so nothing is sent to its targets.")
		return c.report
	}
	if p.term != nil && g.caps != nil && c.endpoint.oddPort {
		c.report.Fail("connect", "Until the project is claimed, calls are only forwarded to ports 80 and 443.")
		return c.report
	}
	ctx, stop := context.WithTimeout(ctx, checkWithin)
	defer stop()
	if conn, ok := c.connect(ctx); ok {
		c.credentials()
		c.ask(ctx, conn)
	}
	return c.report
}

// connect connects, and reports on the steps until there is a connection to send on.
func (c *targetCheck) connect(ctx context.Context) (net.Conn, bool) {
	started := time.Now()
	conn, err := c.open(ctx)
	if err != nil {
		c.report.Fail("connect", "%s", c.connectReason(ctx, err))
		return nil, false
	}
	c.found.AddressClass = addressClass(conn.RemoteAddr())
	c.report.Pass("connect", "Connected to a %s address in %s.", c.found.AddressClass,
		milliseconds(time.Since(started)))
	if c.environment.scheme != "https" {
		if c.found.AddressClass == diagnosis.Loopback {
			c.report.Skip("tls", "The target is on this machine and doesn't use TLS.")
		} else {
			c.report.Warn("tls", "The target starts with http://, so calls can be read and changed in transit.")
		}
		return conn, true
	}
	secured, err := c.secure(ctx, conn, c.environment.offers()...)
	if err != nil {
		c.report.Fail("tls", "%s", c.tlsReason(ctx, err))
		return nil, false
	}
	c.negotiated = secured.ConnectionState().NegotiatedProtocol
	if c.environment.http == snapshot.HTTP2 && c.negotiated != engine.HTTP2 {
		_ = secured.Close()
		c.report.Fail("tls", "%s", c.otherHTTP())
		return nil, false
	}
	c.secured(secured.ConnectionState())
	return secured, true
}

// open opens a connection to the upstream, as for a call.
func (c *targetCheck) open(ctx context.Context) (net.Conn, error) {
	address, _ := addressOf(c.environment.scheme, c.endpoint.host)
	return c.gateway.connect(ctx, address, c.environment.timeouts.Connect)
}

// secure begins TLS on a connection, and offers protocols. After an error the connection is closed.
func (c *targetCheck) secure(ctx context.Context, conn net.Conn, protocols ...string) (*tls.Conn, error) {
	config, err := c.gateway.secureConfig(c.environment, c.endpoint.host, protocols...)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	present := config.GetClientCertificate
	config.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c.wantsCertificate = true
		if present == nil {
			return &tls.Certificate{}, nil
		}
		return present(asked)
	}
	ctx, stop := context.WithTimeout(ctx, c.environment.timeouts.Connect)
	defer stop()
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

// reconnect is connect without a report.
func (c *targetCheck) reconnect(ctx context.Context) (net.Conn, error) {
	conn, err := c.open(ctx)
	if err != nil || c.environment.scheme != "https" {
		return conn, err
	}
	secured, err := c.secure(ctx, conn, c.environment.offers()...)
	if err != nil {
		return nil, err
	}
	return secured, nil
}

func (c *targetCheck) secured(state tls.ConnectionState) {
	c.found.TLSVersion = tls.VersionName(state.Version)
	if len(state.PeerCertificates) == 0 {
		c.report.Pass("tls", "%s.", c.found.TLSVersion)
		return
	}
	ends := state.PeerCertificates[0].NotAfter
	c.found.CertificateExpiresAt = new(ends.UTC())
	left := ends.Sub(c.gateway.now())
	detail := fmt.Sprintf("%s. The certificate is valid until %s (%s left).", c.found.TLSVersion,
		ends.UTC().Format(time.DateOnly), english.Plural(int(left/(24*time.Hour)), "day", ""))
	if left < expiresSoon {
		c.report.Warn("tls", "%s Renew it.", detail)
		return
	}
	c.report.Pass("tls", "%s", detail)
}

// credentials reports the credentials in the request that prove its origin.
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
		c.report.Skip("credentials", "The environment has no upstream credentials, so the upstream can't tell this "+
			"project from other callers.")
		return
	}
	c.report.Pass("credentials", "The request includes %s.", strings.Join(carried, ", "))
}

// ask sends HEAD, and GET if the upstream doesn't support HEAD.
func (c *targetCheck) ask(ctx context.Context, conn net.Conn) {
	method := http.MethodHead
	path := policy.JoinTarget(c.environment.path, "/")
	response, err := c.send(ctx, conn, method, path, "") //nolint:bodyclose // send closes it
	unsupported := []int{http.StatusMethodNotAllowed, http.StatusNotImplemented}
	if err == nil && slices.Contains(unsupported, response.StatusCode) {
		method = http.MethodGet
		if conn, err = c.reconnect(ctx); err == nil {
			response, err = c.send(ctx, conn, method, path, "") //nolint:bodyclose // send closes it
		}
	}
	if err != nil {
		c.report.Fail("answer", "%s", c.answerReason(ctx, err))
		return
	}
	// Servers answer HTTP on a port for TLS with 400.
	if response.StatusCode == http.StatusBadRequest && c.environment.scheme == "http" && c.speaksTLS(ctx) {
		c.found.Status = response.StatusCode
		c.report.Fail("answer", "%s", c.needsTLS())
		return
	}
	c.answered(method, response)
}

// send sends a request on a new connection, which it closes. A query begins with its question mark.
func (c *targetCheck) send(ctx context.Context, conn net.Conn, method, path, query string) (*http.Response, error) {
	defer conn.Close()
	e := c.environment
	ctx, stop := context.WithTimeout(ctx, e.timeouts.Response)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, method, e.scheme+"://"+c.endpoint.host+path+query, nil)
	if err != nil {
		return nil, err
	}
	request.Host = cmp.Or(e.hostHeader, c.endpoint.host)
	request.Header.Set("User-Agent", "postern-check")
	e.proof.lines(request.Header.Set)
	if e.proof.signs() {
		s := newSignature()
		s.cover("@method", method)
		s.cover("@path", path)
		s.cover("@query", cmp.Or(query, "?")) // RFC 9421, section 2.2.7
		now := c.gateway.now()
		key := e.proof.signer.at(now)
		input, value := s.sign(key.private, signatureParams{now.Unix(), key.id, "ed25519", e.id})
		request.Header.Set(signatureInputHeader, signatureLabel+"="+input)
		request.Header.Set(signatureHeader, signatureLabel+"=:"+value+":")
	}
	on := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	transport := &http.Transport{
		DialContext:            on,
		DialTLSContext:         on,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: c.gateway.limits.ResponseBytes,
		Protocols:              e.protocols(),
	}
	var first time.Time // written before RoundTrip returns an answer
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Now() }}
	sent := time.Now()
	response, err := transport.RoundTrip(request.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	c.found.FirstByteMS = diagnosis.Milliseconds(first.Sub(sent))
	return response, nil
}

func (c *targetCheck) answered(method string, response *http.Response) {
	c.found.Status = response.StatusCode
	says := fmt.Sprintf("%s %s returned %d, with the first byte after %s.", method,
		policy.JoinTarget(c.environment.path, "/"), response.StatusCode, milliseconds(c.found.FirstByteMS.Duration()))
	switch status := response.StatusCode; {
	case status >= http.StatusInternalServerError:
		c.report.Warn("answer", "%s The upstream responds, but with an error.", says)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		c.report.Warn("answer", "%s The upstream responds, but refuses a request that isn't from a caller. Check "+
			"that it accepts this environment's credentials.", says)
	case status == http.StatusBadRequest && c.wantsCertificate && c.environment.proof.fingerprint() == "":
		c.report.Warn("answer", "%s The server requested a client certificate, but the environment doesn't have one. "+
			"If the server requires one, set it: postern upstreams certificate set.", says)
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		c.report.Pass("answer", "%s The gateway passes redirects on to callers and doesn't follow them.", says)
	case status >= http.StatusBadRequest:
		c.report.Pass("answer", "%s The upstream responds. It doesn't have to serve anything at its base path.", says)
	default:
		c.report.Pass("answer", "%s", says)
	}
}

// addressOf returns the host and port to dial, and the name that the upstream's certificate must have. host has its
// port unless that is the scheme's.
func addressOf(scheme, host string) (address, name string) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return host, name
	}
	port := "80" // the scheme's
	if scheme == "https" {
		port = "443"
	}
	name = strings.Trim(host, "[]")
	return net.JoinHostPort(name, port), name
}

// sharedAddresses are those between a provider and its customers, which are not public (RFC 6598).
var sharedAddresses = netip.MustParsePrefix("100.64.0.0/10")

func addressClass(addr net.Addr) diagnosis.AddressClass {
	parsed, err := netip.ParseAddrPort(addr.String())
	switch ip := parsed.Addr().Unmap(); {
	case err == nil && ip.IsLoopback():
		return diagnosis.Loopback
	case err == nil && ip.IsGlobalUnicast() && !ip.IsPrivate() && !sharedAddresses.Contains(ip):
		return diagnosis.Public
	}
	return diagnosis.Private
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
