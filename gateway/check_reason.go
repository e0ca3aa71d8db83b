package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"postern/core/diagnosis"
	"postern/core/snapshot"
	"postern/platform/egress"
)

// outOfTime says which timeout ended a step of a check: the environment's or the check's own.
func (c *targetCheck) outOfTime(ctx context.Context, within time.Duration, member, flag, what string) string {
	if ctx.Err() != nil || within >= checkWithin {
		return fmt.Sprintf("The server didn't respond in time: %s took longer than %s, after which this check stops. "+
			"Calls wait up to %s (%s). Check that the server is running and that no firewall blocks this gateway.",
			what, checkWithin, within, member)
	}
	return fmt.Sprintf("The server didn't respond in time: %s took longer than %s (%s). Check that the server is "+
		"running and that no firewall blocks this gateway. If it only needs more time, raise %s (%s).",
		what, within, member, member, flag)
}

// connectReason says why no connection could be opened.
func (c *targetCheck) connectReason(ctx context.Context, err error) string {
	if isTimeout(err) {
		return c.outOfTime(ctx, c.environment.timeouts.Connect, "connect_ms", "--connect-timeout", "connecting")
	}
	return egress.Reason(err)
}

// tlsReason says which step of a TLS handshake failed, and which setting would fix it.
func (c *targetCheck) tlsReason(ctx context.Context, err error) string {
	var (
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &name):
		return c.otherNames(name.Certificate)
	case errors.As(err, &authority):
		return c.unknownAuthority(err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return c.outsideValidity(invalid.Cert)
	case errors.As(err, &record):
		return "The server doesn't use TLS on that port. Change the target to http://" + c.endpoint.host + ", or " +
			"to the port that the server uses for https."
	case isTimeout(err):
		return c.outOfTime(ctx, c.environment.timeouts.Connect, "connect_ms", "--connect-timeout", "the TLS handshake")
	}
	if text := c.alertReason(err); text != "" {
		return text
	}
	return egress.Reason(err)
}

// mostNames is how many names of a certificate a report has.
const mostNames = 5

// otherNames lists the names in a certificate that lacks the required name.
func (c *targetCheck) otherNames(found *x509.Certificate) string {
	required := "The certificate isn't valid for " + c.serverName() + ". "
	var names []string
	for i, one := range found.DNSNames {
		if i == mostNames {
			names = append(names, fmt.Sprintf("%d more", len(found.DNSNames)-mostNames))
			break
		}
		names = append(names, diagnosis.Quote(one))
	}
	if len(names) == 0 {
		return required + "It has no DNS names, and a common name (CN) alone isn't enough. If it is valid for an IP " +
			"address, set server_name (--server-name) to that address. Otherwise, use another certificate."
	}
	return required + "It is valid only for " + english.WordSeries(names, "and") + ". Set server_name " +
		"(--server-name) to a name that the certificate is valid for, or use a certificate for this name."
}

// serverName is the name that the upstream's certificate must be valid for.
func (c *targetCheck) serverName() string {
	if t := c.environment.trust; t != nil && t.serverName != "" {
		return t.serverName + ", which is the environment's server_name"
	}
	_, name := addressOf(c.environment.scheme, c.endpoint.host)
	return name
}

func (c *targetCheck) outsideValidity(found *x509.Certificate) string {
	of := diagnosis.Quote(found.Subject.String())
	if found.NotBefore.After(c.gateway.now()) {
		return "The certificate of " + of + " isn't valid until " + found.NotBefore.UTC().Format(time.RFC3339) +
			". Check the server's certificate and the clock of this gateway."
	}
	return "The certificate of " + of + " expired at " + found.NotAfter.UTC().Format(time.RFC3339) +
		". Renew it on the server."
}

// unknownAuthority offers the last certificate of the server's chain as an authority.
func (c *targetCheck) unknownAuthority(err error) string {
	const untrusted = "The certificate is from an authority that isn't trusted here, or its chain is incomplete. "
	var failed *tls.CertificateVerificationError
	if !errors.As(err, &failed) || len(failed.UnverifiedCertificates) == 0 {
		return untrusted + "Set the authority's certificate as ca (--ca)."
	}
	last := failed.UnverifiedCertificates[len(failed.UnverifiedCertificates)-1]
	sum := sha256.Sum256(last.Raw)
	offer := &diagnosis.OfferedCA{
		Subject: last.Subject.String(), SHA256: hex.EncodeToString(sum[:]), ExpiresAt: last.NotAfter.UTC(),
		PEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: last.Raw})),
	}
	c.found.CA = offer
	compare := "Anyone between this gateway and the server could have sent it, so first compare its SHA-256 " +
		"fingerprint, " + offer.SHA256 + ", with the one that the server's operator gives you."
	if !last.IsCA {
		return untrusted + "The server doesn't send the authority's certificate. Ask its operator for the " +
			"authority's certificate, and set it as ca (--ca). You can also set the server's own certificate, " +
			"" + diagnosis.Quote(offer.Subject) + ", until the server gets another one. " + compare
	}
	return untrusted + "If it is a private authority, set its certificate, " + diagnosis.Quote(offer.Subject) +
		", as ca (--ca). " + compare
}

// alertReason explains an alert of the server; "" if the error isn't an alert.
func (c *targetCheck) alertReason(err error) string {
	var remote *net.OpError // crypto/tls has no exported type for alerts over TCP
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return ""
	}
	text := remote.Err.Error()
	switch {
	case strings.Contains(text, "no application protocol"):
		return c.otherHTTP()
	case strings.Contains(text, "unrecognized name"):
		return "The server doesn't recognize the name " + c.serverName() + ". Set server_name (--server-name) to a " +
			"name that it serves."
	case strings.Contains(text, "protocol version"):
		return "The server supports neither TLS 1.2 nor TLS 1.3. Update it."
	case strings.Contains(text, "certificate required"), c.wantsCertificate && isAboutCertificate(text):
		if c.environment.proof.fingerprint() != "" {
			return "The server refuses the environment's client certificate (" + text + "). Replace it with one " +
				"from an authority that the server trusts: postern upstreams certificate set."
		}
		return "The server requires a client certificate. Set one for the environment: postern upstreams " +
			"certificate set."
	}
	return ""
}

// isAboutCertificate reports whether an alert is one that servers send for the lack of a client certificate before TLS
// 1.3 (RFC 5246, section 7.4.6).
func isAboutCertificate(alert string) bool {
	return strings.Contains(alert, "handshake failure") || strings.Contains(alert, "certificate")
}

// otherHTTP says that the server speaks another version of HTTP than the environment's setting.
func (c *targetCheck) otherHTTP() string {
	if c.environment.http == snapshot.HTTP2 {
		return "The server doesn't respond to HTTP/2. Set http to 1.1 or auto (--http auto)."
	}
	return "This is a gRPC or HTTP/2-only server: it responds to HTTP/2, but not to HTTP/1.1. Set http to 2 (--http 2)."
}

// answerReason says why there was no response.
func (c *targetCheck) answerReason(ctx context.Context, err error) string {
	if isTimeout(err) {
		return c.outOfTime(ctx, c.environment.timeouts.Response, "response_ms", "--response-timeout",
			"the first byte of the response")
	}
	if text := c.alertReason(err); text != "" {
		return text
	}
	if text := c.otherProtocol(ctx); text != "" {
		return text
	}
	return egress.Reason(err)
}

// otherProtocol says which protocol the server speaks, after it didn't respond to the environment's version of HTTP; ""
// if it isn't known.
func (c *targetCheck) otherProtocol(ctx context.Context) string {
	switch {
	case c.environment.scheme == "http" && c.speaksTLS(ctx):
		return c.needsTLS()
	case c.negotiated == "" && c.speaksHTTP2(ctx) != (c.environment.http == snapshot.HTTP2):
		return c.otherHTTP()
	}
	return ""
}

func (c *targetCheck) needsTLS() string {
	return "The server uses TLS on that port. Change the target to https://" + c.endpoint.host + "."
}

// speaksTLS reports whether the server answers a TLS handshake, with any certificate.
func (c *targetCheck) speaksTLS(ctx context.Context) bool {
	conn, err := c.open(ctx)
	if err != nil {
		return false
	}
	secured, err := c.secure(ctx, conn, "http/1.1")
	if err == nil {
		_ = secured.Close()
		return true
	}
	var remote *net.OpError
	var failed *tls.CertificateVerificationError
	return errors.As(err, &failed) || errors.As(err, &remote) && remote.Op == "remote error"
}

// preface is how a client begins HTTP/2, with empty settings (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// settingsFrame is the type of the frame that a server begins HTTP/2 with.
const settingsFrame = 4

// speaksHTTP2 reports whether the server answers the beginning of HTTP/2.
func (c *targetCheck) speaksHTTP2(ctx context.Context) bool {
	conn, err := c.open(ctx)
	if err != nil {
		return false
	}
	if c.environment.scheme == "https" {
		secured, err := c.secure(ctx, conn, "h2")
		if err != nil {
			return false
		}
		defer func() { _ = secured.Close() }()
		return secured.ConnectionState().NegotiatedProtocol == "h2"
	}
	defer conn.Close()
	if ends, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(ends)
	}
	if _, err := io.WriteString(conn, preface); err != nil {
		return false
	}
	frame := make([]byte, 9)
	_, err = io.ReadFull(conn, frame)
	return err == nil && frame[3] == settingsFrame && bytes.Equal(frame[5:], make([]byte, 4))
}
