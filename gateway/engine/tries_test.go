package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/testkit"
)

// sendings sends a call to one upstream, at most max times more than once.
type sendings struct {
	up    *Upstream
	max   int
	tries []Try
}

func (s *sendings) Next(last Try) *Upstream {
	if last.Outcome == NotTried {
		return s.up
	}
	if s.tries = append(s.tries, last); last.Again && last.Err != nil && len(s.tries) <= s.max {
		return s.up
	}
	return nil
}

// said returns the tries in short: each outcome, with ! where the call can't be sent again.
func (s *sendings) said() string {
	names := map[Outcome]string{
		Answered: "status", Unsent: "unsent", BrokenOff: "broken off", TimedOut: "timed out", Abandoned: "abandoned",
	}
	var out []string
	for _, t := range s.tries {
		one := names[t.Outcome]
		if t.Status != 0 {
			one += fmt.Sprint(" ", t.Status)
		}
		if !t.Again {
			one += "!"
		}
		if t.Upstream != s.up || (t.Err == nil) != (t.Outcome == Answered) {
			one += " (wrong)"
		}
		out = append(out, one)
	}
	return strings.Join(out, ", ")
}

// writes is a Requester without a body.
type writes struct{ r *http.Request }

func (w writes) Request() *http.Request  { return w.r }
func (w writes) Kept() bool              { return w.r.Body == http.NoBody }
func (w writes) Interim(*Response) error { return nil }

// Each try is reported once, in order, the last one too.
func TestTries_reported(t *testing.T) {
	const again = 2
	for name, tc := range map[string]struct {
		method string
		refuse int      // connections
		steps  []string // what the upstream writes to each connection; "silence": nothing, and it stays open
		want   string
	}{
		"answered":           {"GET", 0, []string{anAnswer}, "status 200"},
		"not idempotent":     {"POST", 0, []string{anAnswer}, "status 200!"},
		"the connection":     {"POST", 1, []string{anAnswer}, "unsent, status 200!"},
		"no connection":      {"GET", 9, nil, "unsent, unsent, unsent"},
		"broken off":         {"GET", 0, []string{"", anAnswer}, "broken off, status 200"},
		"broken off often":   {"PUT", 0, []string{"", "", ""}, "broken off, broken off, broken off"},
		"broken off at once": {"POST", 0, []string{""}, "broken off!"},
		"within its head":    {"GET", 0, []string{"HTTP/1.1 200"}, "broken off!"},
		"not HTTP":           {"GET", 0, []string{"220 smtp\r\n"}, "broken off!"},
		"after a 103":        {"GET", 0, []string{"HTTP/1.1 103 X\r\n\r\n"}, "broken off!"},
		"after a 100":        {"GET", 0, []string{"HTTP/1.1 100 X\r\n\r\n"}, "broken off!"},
		"answered after 103": {"GET", 0, []string{"HTTP/1.1 103 X\r\n\r\n" + anAnswer}, "status 200!"},
		"answered after 100": {"GET", 0, []string{"HTTP/1.1 100 X\r\n\r\n" + anAnswer}, "status 200"},
		"timed out":          {"GET", 0, []string{"silence", anAnswer}, "timed out, status 200"},
		"not in time":        {"POST", 0, []string{"silence"}, "timed out!"},
	} {
		for path, send := range testkit.ByName(map[string]func(*testing.T, *sendings, string){
			"Forward": sendByForward, "RoundTrip": sendByRoundTrip,
		}) {
			t.Run(name+"/"+path, func(t *testing.T) {
				over := make(chan struct{})
				defer close(over)
				up, _ := upstreamOf(t, func(n int, conn net.Conn, from *bufio.Reader) {
					defer func() { _ = conn.Close() }()
					if _, err := http.ReadRequest(from); err != nil {
						return
					}
					if tc.steps[n] == "silence" {
						<-over
						return
					}
					_, _ = io.WriteString(conn, tc.steps[n])
				})
				if strings.Contains(tc.want, "timed out") {
					up.timeouts.Response = 50 * time.Millisecond
				}
				dial, dials := up.dial, 0
				up.dial = func(ctx context.Context) (net.Conn, error) {
					if dials++; dials <= tc.refuse {
						return nil, errors.New("refused")
					}
					return dial(ctx)
				}
				tries := &sendings{up: up, max: again}
				send(t, tries, tc.method)
				if got := tries.said(); got != tc.want {
					t.Errorf("the tries were %q, want %q", got, tc.want)
				}
			})
		}
	}
}

// A body that was read for an idle connection, which turns out to have ended, reaches the upstream although the next
// connection fails.
func TestTries_bodyOfIdleConnection(t *testing.T) {
	ended, bodies := make(chan struct{}), make(chan string, 2)
	up, newest := upstreamOf(t, func(n int, conn net.Conn, from *bufio.Reader) {
		defer func() { _ = conn.Close() }()
		r, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		_, _ = io.WriteString(conn, anAnswer)
		if n == 0 {
			<-ended
		}
	})
	connect, dials := up.dial, 0
	up.dial = func(ctx context.Context) (net.Conn, error) {
		if dials++; dials == 2 {
			return nil, errors.New("refused")
		}
		return connect(ctx)
	}
	_, addr := start(t, forwarding(up, func() {}), nil)
	conn := dial(t, addr)
	from := bufio.NewReader(conn)
	for call, body := range []string{"first", "other"} {
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"+body)
		wantAnswer(t, from, "up")
		if got := <-bodies; got != body {
			t.Errorf("call %d: the upstream got %q", call+1, got)
		}
		if call == 0 {
			close(ended)
			waitUntilEnded(t, newest.Load())
		}
	}
	if dials != 3 {
		t.Errorf("%d connections were tried, want 3", dials)
	}
}

// cutOff is a session whose calls may not continue.
type cutOff struct{ answering }

func (cutOff) MayContinue() bool { return false }

// A call that is cut off while its body is awaited ends as if the caller had left.
func TestTries_cutOffInBody(t *testing.T) {
	up, _ := upstreamOf(t, func(_ int, conn net.Conn, from *bufio.Reader) {
		defer func() { _ = conn.Close() }()
		_, _ = io.Copy(io.Discard, from)
	})
	tries, ends := &sendings{up: up, max: 1}, make(chan error, 1)
	_, addr := start(t, cutOff{func(x *Exchange) bool {
		_, err := x.Forward(tries, copying{x})
		ends <- err
		return true
	}}, nil)
	_, _ = io.WriteString(dial(t, addr), "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
	if err := <-ends; !errors.Is(err, ErrCaller) || tries.said() != "abandoned!" {
		t.Errorf("the call ended with %v, after %s", err, tries.said())
	}
}

func sendByForward(t *testing.T, tries *sendings, method string) {
	served := make(chan struct{})
	_, addr := start(t, answering(func(x *Exchange) bool {
		defer close(served)
		if _, err := x.Forward(tries, copying{x}); err != nil {
			x.Answer(502, nil, nil)
		}
		return true
	}), nil)
	_, _ = io.WriteString(dial(t, addr), method+" / HTTP/1.1\r\nHost: x\r\n\r\n")
	testkit.Eventually(t, "the end of the call", func() bool {
		select {
		case <-served:
			return true
		default:
			return false
		}
	})
}

func sendByRoundTrip(t *testing.T, tries *sendings, method string) {
	r, err := http.NewRequestWithContext(t.Context(), method, "http://up/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := RoundTrip(tries, writes{r}, &Limits{ResponseBytes: 4 << 10})
	if err == nil {
		_ = response.Body.Close()
	}
}
