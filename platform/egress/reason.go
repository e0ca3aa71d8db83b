package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// Reason returns a sentence, for people who don't know the network, about why a connection or a request failed and what
// to do about it. It names no addresses, because a caller who guesses host names could map a private network.
func Reason(err error) string {
	if text := certificateReason(err); text != "" {
		return text
	}
	var name *net.DNSError
	switch {
	case errors.Is(err, errPort):
		return "The port belongs to a protocol other than HTTP, so it isn't allowed. The operator can allow the " +
			"address with POSTERN_EGRESS_ALLOW."
	case errors.Is(err, ErrForbidden):
		return "The host name resolves to an IP address that isn't allowed. The operator can allow it with " +
			"POSTERN_EGRESS_ALLOW."
	case errors.As(err, &name):
		return "The host name doesn't resolve to an IP address. Check its spelling and DNS records."
	case isTimeout(err):
		return "The server didn't respond in time. Check that it is running and that no firewall blocks this gateway."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The server refuses connections on that port. Check that it is running, and check the port."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "The server closed the connection without a response."
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "This gateway has no network route to the server."
	}
	return "The response can't be read. It isn't HTTP, its header is too long, or the connection was interrupted."
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timed) && timed.Timeout()
}

// certificateReason says why a TLS handshake failed, "" if that is not what failed.
func certificateReason(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		remote    *net.OpError // crypto/tls has no exported type for alerts over TCP
	)
	switch {
	case errors.As(err, &authority):
		return "The certificate is from an authority that isn't trusted here, or its chain is incomplete."
	case errors.As(err, &host):
		return "The certificate is for another host name."
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if invalid.Cert != nil && invalid.Cert.NotBefore.After(time.Now()) {
			return "The certificate isn't valid yet."
		}
		return "The certificate has expired."
	case errors.As(err, &invalid):
		return "The certificate isn't valid for a server."
	case errors.As(err, &record):
		return "The server doesn't use TLS on that port. Check the port, or use http://."
	case errors.As(err, &remote) && remote.Op == "remote error":
		return "The server refuses the TLS handshake (" + remote.Err.Error() + "). It may require a client " +
			"certificate or another TLS version."
	}
	return ""
}
