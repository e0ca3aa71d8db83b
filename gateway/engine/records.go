package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Secure makes a TLS connection to an upstream over plain, which it closes where the
// handshake fails. Only a connection made here is used for more than one call.
func Secure(ctx context.Context, plain net.Conn, config *tls.Config) (net.Conn, error) {
	secured := tls.Client(&records{Conn: plain}, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return secured, nil
}

// records is the connection below TLS. crypto/tls does not say whether it holds bytes
// that it has read and not handed out, neither whole records that came in one segment
// with the last one nor the beginning of one. To find out, records follows the
// framing of what is read through it (RFC 8446 section 5.1).
//
// It is read by one goroutine at a time.
type records struct {
	net.Conn
	header [5]byte
	have   int     // bytes of the header
	left   int     // bytes of the record, when the header is whole
	dry    bool    // there is nothing to read, whatever the socket has
	probe  [1]byte // of drained
}

// errDry is a temporary error, which crypto/tls does not keep.
var errDry net.Error = dryError{}

type dryError struct{}

func (dryError) Error() string   { return "nothing to read" }
func (dryError) Timeout() bool   { return true }
func (dryError) Temporary() bool { return true }

func (r *records) Read(p []byte) (int, error) {
	if r.dry {
		return 0, errDry
	}
	n, err := r.Conn.Read(p)
	r.follow(p[:n])
	return n, err
}

// follow advances over bytes that were read.
func (r *records) follow(p []byte) {
	for len(p) > 0 {
		if r.left > 0 {
			n := min(r.left, len(p))
			r.left, p = r.left-n, p[n:]
			continue
		}
		n := copy(r.header[r.have:], p)
		p = p[n:]
		if r.have += n; r.have == len(r.header) {
			r.have, r.left = 0, int(r.header[3])<<8|int(r.header[4])
		}
	}
}

// drained reports whether over, the TLS connection above, holds nothing. Without the
// socket it can read only from whole records that it holds: if it then wants more, it
// holds no whole one, and no part of one where the last byte ended a record.
func (r *records) drained(over net.Conn) bool {
	r.dry = true
	defer func() { r.dry = false }()
	n, err := over.Read(r.probe[:])
	return n == 0 && errors.Is(err, errDry) && r.have == 0 && r.left == 0
}

// SyscallConn is that of the socket.
func (r *records) SyscallConn() (syscall.RawConn, error) {
	if s, ok := r.Conn.(syscall.Conn); ok {
		return s.SyscallConn() //nolint:wrapcheck // it stands in for the socket
	}
	return nil, errors.ErrUnsupported
}
