package web

import (
	"net"
	"net/http"
	"net/netip"
	"time"

	"postern/core/policy"
)

// ClientAddress puts the address that a trusted proxy called for into RemoteAddr,
// where throttling and the audit log look for it. The port is not known: it is 0.
func (s *Site) ClientAddress(next http.Handler) http.Handler {
	if len(s.Config.Trusted) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err == nil && policy.Contains(s.Config.Trusted, peer.Addr()) {
			client := policy.ClientAddress(peer.Addr(), r.Header["X-Forwarded-For"], s.Config.Trusted)
			r = r.WithContext(r.Context()) // a copy: the request is the server's
			r.RemoteAddr = net.JoinHostPort(client.String(), "0")
		}
		next.ServeHTTP(w, r)
	})
}

// DefaultStallTimeout is how long a caller may take nothing of an answer. One limit for the
// whole would cut off downloads that are slow and go on.
const DefaultStallTimeout = time.Minute

// StallTimeout gives up on callers who take nothing for so long.
func StallTimeout(patience time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &stallWriter{ResponseWriter: w, connection: http.NewResponseController(w), timeout: patience}
		// The server itself writes what is left when the handler is done.
		defer p.extend()
		next.ServeHTTP(p, r)
	})
}

// patientWriter begins the wait anew with every piece. It has no ReadFrom on
// purpose, which would write a whole file as one piece.
type stallWriter struct {
	http.ResponseWriter
	connection  *http.ResponseController
	timeout     time.Duration
	ownDeadline bool // the handler has a patience of its own
}

func (w *stallWriter) extend() {
	if !w.ownDeadline {
		_ = w.connection.SetWriteDeadline(time.Now().Add(w.timeout))
	}
}

func (w *stallWriter) Write(b []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (w *stallWriter) Flush() {
	w.extend()
	_ = w.connection.Flush()
}

// SetWriteDeadline is what http.ResponseController looks for.
func (w *stallWriter) SetWriteDeadline(t time.Time) error {
	w.ownDeadline = true
	return w.connection.SetWriteDeadline(t)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *stallWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
