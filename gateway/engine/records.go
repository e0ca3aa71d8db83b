package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Secure returns a TLS connection to an upstream over plain. If the handshake fails, it closes plain. TLS connections
// that were created in another way are used for one call only.
func Secure(ctx context.Context, plain net.Conn, config *tls.Config) (net.Conn, error) {
	secured := tls.Client(&records{Conn: plain}, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return secured, nil
}

// records is the connection below TLS. crypto/tls does not report whether it holds bytes that
// Read has not returned: complete records, or the beginning of one. To find out, records
// follows the framing of the bytes that are read through it (RFC 8446 section 5.1).
//
// It is read by one goroutine at a time.
type records struct {
	net.Conn
	header [5]byte
	have   int     // bytes of the header that were read
	left   int     // bytes of the record that are still to be read
	dry    bool    // Read fails with errDry instead of reading from the socket
	probe  [1]byte // of drained
}

// errDry is a temporary error: crypto/tls does not return it again from later reads.
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

// drained reports whether over, the TLS connection above, holds no bytes. While Read fails, over can only return bytes
// of complete records that it holds. Without one it gets errDry, and it holds no part of a record if the last byte that
// was read ended one.
func (r *records) drained(over net.Conn) bool {
	r.dry = true
	defer func() { r.dry = false }()
	n, err := over.Read(r.probe[:])
	return n == 0 && errors.Is(err, errDry) && r.have == 0 && r.left == 0
}

// SyscallConn returns the socket's SyscallConn.
func (r *records) SyscallConn() (syscall.RawConn, error) {
	if s, ok := r.Conn.(syscall.Conn); ok {
		return s.SyscallConn() //nolint:wrapcheck // it replaces the socket
	}
	return nil, errors.ErrUnsupported
}
