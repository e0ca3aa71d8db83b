// Package client calls the JSON API of a Postern server.
//
// It owns addresses, credentials on the wire, retries, and the translation of problem
// details (RFC 9457) into package fault. It leaves the storage of credentials and all
// output to cmd/internal. Its structs have the API's JSON names, so that encoding one
// gives the server's response.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"postern/platform/fault"
	"postern/platform/listjson"
)

// accepted are the media types of responses that are no streams.
const accepted = "application/json, application/problem+json, application/zip"

// maxResponse bounds a response that is read whole, in bytes.
const maxResponse = 32 << 20

// Client calls one server with one credential. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client

	anonymous string // see WithAnonymousToken
	etag      string // see IfMatch

	firstEvent time.Duration // bound on the silence at the beginning of a stream

	waits func() (end func()) // see Watched
}

// New returns a client of the server at an http or https URL. The token is an
// access token or a workspace key; "" sends no credential.
func New(server, token string) (*Client, error) {
	base, err := Address(server)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	return &Client{base: base, token: token, firstEvent: firstEventWithin, http: &http.Client{
		Transport: transport,
		// The API never redirects. A followed redirect would send the token to another
		// server and turn a POST into a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// WithAnonymousToken returns a copy of the client that also sends the token which some
// installations require of callers without an account.
func (c *Client) WithAnonymousToken(token string) *Client {
	out := *c
	out.anonymous = token
	return &out
}

// Watched returns a copy of the client that calls begin before each request, and end once the answer begins.
func (c *Client) Watched(begin func() (end func())) *Client {
	out := *c
	out.waits = begin
	return &out
}

// IfMatch returns a copy of the client whose changes apply only to an object that still
// has the ETag (RFC 9110, 13.1.1); "" sends no condition. Otherwise they return a fault
// of kind Stale.
func (c *Client) IfMatch(etag string) *Client {
	out := *c
	out.etag = etag
	return &out
}

// Address returns the normal form of a server's URL, under which credentials are
// kept: lowercase scheme and host, no slash at the end.
func Address(server string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(server))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		// The text does not repeat the URL, which may hold a password.
		return "", fault.New(fault.Invalid, "invalid_server", "The server must be a URL such as "+
			"http://127.0.0.1:8080.")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// get reads the resource at a path into a pointer.
func (c *Client) get(ctx context.Context, query string, segments []string, into any) error {
	response, err := c.send(ctx, http.MethodGet, nil, query, segments)
	if err != nil {
		return err
	}
	return c.decode(response, into)
}

func (c *Client) decode(response *http.Response, into any) error {
	defer response.Body.Close()
	if err := json.NewDecoder(io.LimitReader(response.Body, maxResponse)).Decode(into); err != nil {
		return c.unexpected(err)
	}
	return nil
}

// send returns a response of 2xx, whose body the caller closes, or an error.
func (c *Client) send(
	ctx context.Context, method string, in any, query string, segments []string,
) (*http.Response, error) {
	return c.sendWith(
		ctx, method, in, query, segments,
		http.Header{"Accept": {accepted}},
	)
}

func (c *Client) sendWith(
	ctx context.Context, method string, in any, query string, segments []string, header http.Header,
) (*http.Response, error) {
	path, err := pathOf(segments)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if in != nil {
		text, err := listjson.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("client: encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path+query, body)
	if err != nil {
		return nil, fmt.Errorf("client: create the request: %w", err)
	}
	request.Header = header
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.etag != "" && method != http.MethodGet {
		request.Header.Set("If-Match", c.etag)
	}
	return c.sendAuthorized(request)
}

// sendAuthorized sends a request with the client's credential. It returns a response of 2xx,
// whose body the caller closes, or an error.
func (c *Client) sendAuthorized(request *http.Request) (*http.Response, error) {
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.anonymous != "" {
		request.Header.Set("Postern-Anonymous-Token", c.anonymous)
	}
	if c.waits != nil {
		defer c.waits()()
	}
	response, err := c.sendRetrying(request)
	if err != nil {
		return nil, c.unreachable(request.Context(), err)
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, c.refusal(response)
}

// pathOf escapes segments and joins them to a path. It refuses segments that would change the path: empty ones, "." and
// "..", and those with a slash, which no name or ID contains, and which the server would split even if it is escaped.
func pathOf(segments []string) (string, error) {
	var path strings.Builder
	for _, s := range segments {
		if s == "" || s == "." || s == ".." || strings.Contains(s, "/") {
			return "", fault.New(fault.NotFound, "not_found", "No object has the name or ID %q.", s)
		}
		path.WriteString("/" + url.PathEscape(s))
	}
	return path.String(), nil
}

func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fault.New(fault.Unavailable, "server_unreachable",
			"no Postern server is responding at %s: run `postern serve` to start one, or choose another with --server "+
				"or POSTERN_SERVER", c.base).Because(err)
	}
	why := err
	if inner, ok := errors.AsType[*url.Error](err); ok {
		why = inner.Err // without the address, which is named already
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		why = fmt.Errorf("the host name %s is unknown", lookup.Name)
	}
	return fault.New(fault.Unavailable, "server_unreachable", "can't reach %s (%s): check --server or POSTERN_SERVER",
		c.base, why).Because(err)
}
