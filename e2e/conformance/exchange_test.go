package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"postern/testkit"
	"postern/testkit/scripted"
)

// seen is a request as the upstream received it.
type seen = scripted.Request

// upstream is the upstream of both gateways: one listener for each kind of environment, whose requests are taken
// together.
type upstream struct {
	url    string // of the plain one
	secure *secureUpstreams
	plain  *scripted.Upstream
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	plain := scripted.Start(t, nil)
	return &upstream{url: plain.URL, plain: plain}
}

// take returns what was received since the last call.
func (u *upstream) take() []seen {
	out := u.plain.Take()
	if u.secure != nil {
		out = append(out, u.secure.take()...)
	}
	return out
}

// peer is a gateway under test.
type peer struct {
	name string
	addr string // host:port
	up   *upstream

	admin string // host:port of a gateway that has an admin API

}

// patience bounds an exchange. One whose difference the ledger declares may be
// that a gateway never answers.
func (c Case) patience() time.Duration {
	if len(c.Differs) > 0 {
		return 4 * time.Second
	}
	return patience
}

const patience = 20 * time.Second

// send carries out a case and says what reached the upstream.
func (p *peer) send(c Case) outcome {
	p.up.take()
	out := p.exchange(c)
	if out.ConnectionErr == "" || out.Status != 0 {
		out.Seen = p.up.take()
	}
	return out
}

// exchange carries out a case over its own connection.
func (p *peer) exchange(c Case) (out outcome) {
	dialer := net.Dialer{Timeout: c.patience()}
	if c.From != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(c.From)}
	}
	conn, err := dialer.Dial("tcp", p.addr)
	if err != nil {
		return outcome{ConnectionErr: err.Error()}
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(c.patience()))
	go func() { _, _ = io.WriteString(conn, c.Request) }() // a refused body may never be read
	method, _, _ := strings.Cut(c.Request, " ")
	in := bufio.NewReader(conn)
	response, interim, err := readFinal(in, method)
	if err != nil {
		return outcome{ConnectionErr: "no answer", Interim: interim}
	}
	out = outcome{
		Limits:      limitsTold(response.Header),
		Status:      response.StatusCode,
		Challenge:   response.Header.Get("WWW-Authenticate"),
		ContentType: response.Header.Get("Content-Type"),
		Answer:      answerFields(response.Header),
		Framing:     framingOf(response),
		Interim:     interim,
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		out.Echo = tunnel(conn, in, c.Tunnel)
		return out
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		out.ConnectionErr = "broken body"
	}
	out.Body, out.Trailers = string(body), sentTrailers(response.Trailer)
	var parsed struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(body, &parsed) == nil {
		out.Code = parsed.Code
	}
	return out
}

// answerFields are the fields of an answer that every gateway must pass on alike:
// not those about the caller's connection, the limits, which are compared apart,
// nor the moment.
func answerFields(h http.Header) http.Header {
	out := http.Header{}
	for name, lines := range h {
		switch {
		case name == "Connection", name == "Keep-Alive", name == "Retry-After" && isLimit(h), strings.Contains(name,
			"Ratelimit-"):
		case name == "Date" && isNow(lines):
		default:
			out[name] = lines
		}
	}
	return out
}

// sentTrailers are those that came; others may have been announced.
func sentTrailers(trailers http.Header) http.Header {
	var out http.Header
	for name, lines := range trailers {
		if len(lines) > 0 {
			if out == nil {
				out = http.Header{}
			}
			out[name] = lines
		}
	}
	return out
}

func isLimit(h http.Header) bool { return h.Get("RateLimit-Reset") != "" }

// isNow reports whether a Date is the gateway's own.
func isNow(lines []string) bool {
	date, err := http.ParseTime(strings.Join(lines, ", "))
	return err == nil && time.Since(date).Abs() < time.Hour
}

func framingOf(r *http.Response) string {
	switch {
	case len(r.TransferEncoding) > 0:
		return strings.Join(r.TransferEncoding, ", ")
	case r.ContentLength >= 0:
		return fmt.Sprintf("length %d", r.ContentLength)
	}
	return "until the end"
}

// limitsTold are the headers on limits but for the seconds that are left, in which two calls after one another may
// differ: of those only that they are there.
func limitsTold(h http.Header) map[string]string {
	told := map[string]string{}
	for name, lines := range h {
		switch {
		case name == "Ratelimit-Reset", name == "Retry-After":
			if seconds, err := strconv.Atoi(strings.Join(lines, ",")); err == nil && seconds > 0 {
				told[name] = "seconds"
			}
		case strings.HasPrefix(name, "Ratelimit-"), strings.HasPrefix(name, "X-Ratelimit-"):
			told[name] = strings.Join(lines, ",")
		}
	}
	return told
}

// readFinal reads up to the final answer and returns the statuses of the others.
// A 101 is final.
func readFinal(in *bufio.Reader, method string) (final *http.Response, interim []int, err error) {
	for {
		response, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, interim, err
		}
		interim = append(interim, response.StatusCode)
	}
}

func tunnel(conn net.Conn, in io.Reader, message string) string {
	if _, err := io.WriteString(conn, message); err != nil {
		return "cannot write: " + err.Error()
	}
	back := make([]byte, len(message))
	if _, err := io.ReadFull(in, back); err != nil {
		return "cannot read: " + err.Error()
	}
	return string(back)
}

// waitFor asks for ready until it is, or fails the test with what stopped it.
func waitFor(t *testing.T, what string, ready func() error) {
	t.Helper()
	testkit.Await(t, what+" to be ready", func() (error, bool) {
		err := ready()
		return err, err == nil
	})
}

// routed is ready when the environment answers at all, to any caller.
func (p *peer) routed() error {
	out := p.send(get("probe", prod+"/"))
	if out.Status != http.StatusUnauthorized && out.Status != http.StatusOK {
		return fmt.Errorf("status %d %s", out.Status, out.ConnectionErr)
	}
	return nil
}

// guarded is ready when the environment that requires keys does.
func (p *peer) guarded() error {
	if out := p.send(get("probe", prod+"/")); out.Status != http.StatusUnauthorized {
		return fmt.Errorf("status %d %s", out.Status, out.ConnectionErr)
	}
	return nil
}
