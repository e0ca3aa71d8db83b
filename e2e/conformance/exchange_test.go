package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// seen is a request as the upstream got it.
type seen struct {
	Method, Target, Host string
	Headers, Trailers    http.Header
	Body                 string
	Length               int64
	Encoding             []string
}

// upstream remembers what reaches it, answers 200, and echoes after a WebSocket
// handshake.
type upstream struct {
	url string

	mu   sync.Mutex
	last []seen
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	u.url = server.URL
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u.mu.Lock()
	u.last = append(u.last, seen{
		Method: r.Method, Target: r.RequestURI, Host: r.Host, Headers: r.Header.Clone(), Trailers: r.Trailer,
		Body: string(body), Length: r.ContentLength, Encoding: r.TransferEncoding,
	})
	u.mu.Unlock()
	if r.Header.Get("Upgrade") == "websocket" {
		echo(w)
		return
	}
	w.Header().Set("X-From", "upstream")
	if r.Header.Get("X-Tell") == "limits" {
		w.Header().Set("RateLimit-Limit", "7")
		w.Header().Add("X-RateLimit-Remaining-Second", "7")
		w.Header().Add("X-RateLimit-Remaining-Second", "8")
	}
	_, _ = io.WriteString(w, `{"answer":"of the upstream"}`)
}

func echo(w http.ResponseWriter) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	_, _ = io.Copy(conn, rw)
}

// take gives what came since the last call.
func (u *upstream) take() []seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.last
	u.last = nil
	return out
}

// outcome is everything a case led to.
type outcome struct {
	Status        int
	Body          string
	Code          string // of a JSON body
	Challenge     string // WWW-Authenticate
	ContentType   string
	Limits        map[string]string // headers that tell where the caller stands
	Seen          []seen
	Echo          string
	ConnectionErr string
}

// peer is a gateway under test.
type peer struct {
	name string
	addr string // host:port
	up   *upstream
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

// exchange carries out a case over a connection of its own.
func (p *peer) exchange(c Case) (out outcome) {
	dialer := net.Dialer{Timeout: patience}
	if c.From != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(c.From)}
	}
	conn, err := dialer.Dial("tcp", p.addr)
	if err != nil {
		return outcome{ConnectionErr: err.Error()}
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	go func() { _, _ = io.WriteString(conn, c.Request) }() // a refused body may never be read
	method, _, _ := strings.Cut(c.Request, " ")
	in := bufio.NewReader(conn)
	response, err := readFinal(in, method)
	if err != nil {
		return outcome{ConnectionErr: "no answer"}
	}
	out = outcome{Limits: limitsTold(response.Header), Status: response.StatusCode, Challenge: response.Header.Get("WWW-Authenticate"), ContentType: response.Header.Get("Content-Type")}
	if response.StatusCode == http.StatusSwitchingProtocols {
		out.Echo = tunnel(conn, in, c.Tunnel)
	} else if body, err := io.ReadAll(response.Body); err != nil {
		out.ConnectionErr = "broken body"
	} else {
		out.Body = string(body)
		var parsed struct {
			Code string `json:"code"`
		}
		if json.Unmarshal(body, &parsed) == nil {
			out.Code = parsed.Code
		}
	}
	return out
}

// limitsTold are the headers on limits but for the seconds that are left, in
// which two calls after one another may differ: of those only that they are told.
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

// readFinal skips 1xx answers but 101.
func readFinal(in *bufio.Reader, method string) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
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

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// waitFor asks for ready until it is, or fails the test with what stopped it.
func waitFor(t *testing.T, what string, ready func() error) {
	t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		err := ready()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not ready: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond) // between two tries, not for a result
	}
}

// routed is ready when the environment answers at all, whoever may call it.
func (p *peer) routed() error {
	out := p.send(get("probe", prod+"/"))
	if out.Status != http.StatusUnauthorized && out.Status != http.StatusOK {
		return fmt.Errorf("status %d %s", out.Status, out.ConnectionErr)
	}
	return nil
}

// guarded is ready when the environment that asks for keys does.
func (p *peer) guarded() error {
	if out := p.send(get("probe", prod+"/")); out.Status != http.StatusUnauthorized {
		return fmt.Errorf("status %d %s", out.Status, out.ConnectionErr)
	}
	return nil
}
