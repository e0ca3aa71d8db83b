package traces

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Transport records requests to other systems as spans below that of their context, if it has one (semantic conventions
// for HTTP client spans). A span lasts until the body of the answer was read or closed. It has neither path nor query:
// both can have credentials in them, such as the address of a webhook.
type Transport struct {
	Base http.RoundTripper

	// Purpose ends the names of spans: what requests are for, in a word. For says so for a single one.
	Purpose string

	// Propagate passes the trace on in traceparent. Baggage and tracestate, which can have text from a caller or the
	// operator's other systems, are never passed on.
	Propagate bool
}

// HTTPClient returns a copy of client with such a transport.
func HTTPClient(client *http.Client, purpose string) *http.Client {
	traced := *client
	if traced.Transport == nil {
		traced.Transport = http.DefaultTransport
	}
	traced.Transport = Transport{Base: traced.Transport, Purpose: purpose}
	return &traced
}

type purposeKey struct{}

// For says what the requests of a context are for.
func For(ctx context.Context, purpose string) context.Context {
	if Of(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, purposeKey{}, purpose)
}

// metadataPath ends the address of an issuer's metadata (OpenID Connect Discovery 1.0, 4).
const metadataPath = "/.well-known/openid-configuration"

func (t Transport) purposeOf(r *http.Request) string {
	if strings.HasSuffix(r.URL.Path, metadataPath) {
		return "discovery"
	}
	if purpose, ok := r.Context().Value(purposeKey{}).(string); ok {
		return purpose
	}
	return t.Purpose
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	span := Of(r.Context()).Child(Client, "HTTP")
	if span == nil {
		return t.Base.RoundTrip(r)
	}
	method, name := Method(r.Method)
	span.SetName(name + " " + t.purposeOf(r))
	span.Set(String("http.request.method", method), String("server.address", r.URL.Hostname()))
	if port, err := strconv.Atoi(r.URL.Port()); err == nil {
		span.Set(Int("server.port", port))
	}
	if t.Propagate {
		r = r.Clone(r.Context()) // a transport must not change the caller's request
		r.Header.Set(ParentHeader, span.Remote().Parent())
	}
	response, err := t.Base.RoundTrip(r)
	if err != nil {
		span.Fail(ErrorType(err))
		span.End()
		return nil, err
	}
	span.Set(Int("http.response.status_code", response.StatusCode))
	if response.StatusCode >= http.StatusBadRequest {
		span.Fail(strconv.Itoa(response.StatusCode))
	}
	response.Body = &tracedBody{ReadCloser: response.Body, span: span}
	return response, nil
}

// CloseIdleConnections is called by http.Client.
func (t Transport) CloseIdleConnections() {
	if pool, ok := t.Base.(interface{ CloseIdleConnections() }); ok {
		pool.CloseIdleConnections()
	}
}

// tracedBody ends the span of its request.
type tracedBody struct {
	io.ReadCloser

	span *Span
}

// Read implements io.Reader.
func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			b.span.Fail(ErrorType(err))
		}
		b.span.End()
	}
	return n, err
}

// Close implements io.Closer.
func (b *tracedBody) Close() error {
	b.span.End()
	return b.ReadCloser.Close()
}

// ErrorType returns what Fail takes for an error: "canceled", "timeout" or "error".
func ErrorType(err error) string {
	var slow net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return "timeout"
	}
	return "error"
}
