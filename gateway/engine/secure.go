package engine

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// secure runs the TLS handshake, if the connection has one. It may take as long as a head.
func (c *conn) secure() connState {
	over, ok := c.conn.(*tls.Conn)
	if !ok {
		return awaiting
	}
	now, limit := time.Now(), c.server.Limits.FirstHeader
	c.writeWithin(now, limit)
	if !c.rest(now, limit) {
		return closing
	}
	err := over.Handshake() //nolint:noctx // the deadlines above bound it; a context would cost a goroutine
	c.rested()
	if err != nil {
		explain(err)
		return closing
	}
	switch over.ConnectionState().NegotiatedProtocol {
	case HTTP2:
		return handingOver
	case HTTP1, "":
		return awaiting
	}
	return closing // a protocol that is over with its handshake, such as acme-tls/1 (RFC 8737)
}

// speaksHTTP2 reports whether the handshake negotiated HTTP/2.
func (c *conn) speaksHTTP2() bool {
	over, ok := c.conn.(*tls.Conn)
	return ok && over.ConnectionState().NegotiatedProtocol == HTTP2
}

const notTLS = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Connection: close\r\n\r\nThis address requires HTTPS, but the request was sent without TLS.\n"

// explain answers a caller that sent plain HTTP to a TLS listener, without TLS.
func explain(err error) {
	header, ok := errors.AsType[tls.RecordHeaderError](err)
	if ok && header.Conn != nil && header.RecordHeader[0] >= 'A' && header.RecordHeader[0] <= 'Z' {
		_, _ = io.WriteString(header.Conn, notTLS)
	}
}

// Cut closes a connection at its socket. Closing a TLS connection normally first writes an alert, which takes up to 5 s
// if the other side doesn't read.
func Cut(c net.Conn) error {
	for {
		over, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c.Close() //nolint:wrapcheck // nothing to add
		}
		c = over.NetConn()
	}
}
