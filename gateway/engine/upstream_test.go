package engine

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A call that may not be sent twice is sent on another connection when the one that
// waited was reset, because nothing of it has left.
func TestACallIsNotLostWithAConnectionThatWasResetWhileItWaited(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		reset := make(chan struct{})
		go func() {
			for first := true; ; first = false {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
					continue
				}
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup")
				if first {
					<-reset
					_ = conn.(*net.TCPConn).SetLinger(0)
					_ = conn.Close()
					reset <- struct{}{}
				}
			}
		}()
		up := NewUpstream(func(context.Context) (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) })
		t.Cleanup(up.Close)
		_, addr := start(t, answering(func(x *Exchange) bool {
			if _, err := x.Forward(up, copying{x}); err != nil {
				x.Answer(502, nil, []byte(err.Error()))
			}
			return true
		}), nil)
		conn := dial(t, addr)
		from := bufio.NewReader(conn)
		for call := range 2 {
			_, _ = io.WriteString(conn, method+" / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nin")
			resp, err := http.ReadResponse(from, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 {
				t.Errorf("%s, call %d: %d %s", method, call+1, resp.StatusCode, body)
			}
			if call == 0 {
				reset <- struct{}{}
				<-reset
				time.Sleep(10 * time.Millisecond) // until the reset has crossed loopback
			}
		}
	}
}

// copying rewrites nothing.
type copying struct{ x *Exchange }

func (c copying) RequestHead(dst []byte) []byte {
	return append(dst, c.x.Request.Method+" "+c.x.Request.Target+" HTTP/1.1\r\nHost: up\r\n"...)
}

func (c copying) AnswerHead(dst []byte, r *Response) []byte {
	for _, f := range r.Fields {
		dst = AppendField(dst, strings.Clone(f.Name), f.Value)
	}
	return dst
}

func (c copying) MayTrail(string) bool { return false }
