package h2_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"postern/testkit"
)

func TestServer_responses(t *testing.T) {
	long := strings.Repeat("v", 20_000)
	for name, tc := range testkit.ByName(map[string]struct {
		method  string
		handler http.HandlerFunc
		check   func(got) bool
	}{
		"nothing written": {"GET", func(http.ResponseWriter, *http.Request) {}, func(g got) bool {
			return g.status == "200" && g.header["content-length"] == "0" && g.header["date"] != ""
		}},
		"small": {"GET", answerOK, func(g got) bool {
			return g.status == "200" && g.body == "ok" && g.header["content-length"] == "2" &&
				strings.HasPrefix(g.header["content-type"], "text/plain")
		}},
		"HEAD": {"HEAD", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1234")
			_, _ = io.WriteString(w, "body")
		}, func(g got) bool { return g.status == "200" && g.header["content-length"] == "1234" && g.body == "" }},
		"204": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
			if _, err := io.WriteString(w, "x"); !errors.Is(err, http.ErrBodyNotAllowed) {
				panic(err)
			}
		}, func(g got) bool { return g.status == "204" && g.body == "" && g.header["content-length"] == "" }},
		"a custom status": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(418) },
			func(g got) bool { return g.status == "418" }},
		"flushed": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "a")
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, "b")
		}, func(g got) bool { return g.body == "ab" && g.header["content-length"] == "" }},
		"header only, flushed": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
		}, func(g got) bool { return g.status == "200" && g.body == "" && !g.isReset }},
		"fields of the connection": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			for _, name := range strings.Fields("Connection Keep-Alive Transfer-Encoding Upgrade Proxy-Connection") {
				w.Header().Set(name, "x")
			}
			w.Header().Set("X-A", "b")
			w.Header()["bad name"] = []string{"x"}
			w.Header()["X-Bad"] = []string{"x\r\ny"}
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "x")
		}, func(g got) bool {
			return len(g.header) == 3 && g.header["x-a"] == "b" && g.header["date"] != "" &&
				g.header["content-length"] == "1"
		}},
		"interim": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</a>")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
			_, _ = io.WriteString(w, "page")
		}, func(g got) bool {
			return len(g.interim) == 1 && g.interim[0] == "103" && g.body == "page" && g.header["link"] == ""
		}},
		"a long header": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", long) },
			func(g got) bool { return g.header["x-long"] == long }},
		"trailers": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Sum, X-None")
			_, _ = io.WriteString(w, "body")
			w.Header().Set("X-Sum", "1")
			w.Header().Set(http.TrailerPrefix+"X-Late", "2")
		}, func(g got) bool {
			return g.body == "body" && len(g.trailer) == 2 && g.trailer["x-sum"] == "1" && g.trailer["x-late"] == "2" &&
				g.header["x-sum"] == "" && g.header["trailer"] == "X-Sum, X-None"
		}},
		"longer than stated": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1")
			if _, err := io.WriteString(w, "ab"); err == nil {
				panic("it was written")
			}
		}, func(g got) bool { return g.isReset && g.body == "" }},
		"shorter than stated": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3")
			_, _ = io.WriteString(w, "ab")
		}, func(g got) bool { return g.isReset }},
		"aborted": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "part")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, func(g got) bool { return g.body == "part" && g.reset == http2.ErrCodeInternal && g.isReset }},
	}) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, limits(), tc.handler)
			c := r.dial()
			if g := c.receive(c.send(true, with(get(), ":method", tc.method)...)); !tc.check(g) {
				t.Errorf("got %+v", g)
			}
		})
	}
}

func TestServer_requests(t *testing.T) {
	seen := make(chan *http.Request, 1)
	r := newRig(t, limits(), func(_ http.ResponseWriter, req *http.Request) { seen <- req })
	c := r.dial()
	c.send(true, get("cookie", "a=1", "x-a", "1", "cookie", "b=2", "x-a", "2", "host", "A.test", "te", "trailers")...)
	got := within(t, "the call", seen)
	if got.Method != "GET" || got.Host != "A.test" || got.RequestURI != "/" || got.ProtoMajor != 2 ||
		got.Header.Get("Cookie") != "a=1; b=2" || len(got.Header["X-A"]) != 2 || got.Header["Host"] != nil ||
		got.ContentLength != 0 || got.RemoteAddr == "" || got.Header.Get("Te") != "trailers" {
		t.Errorf("got %+v", got)
	}
	c.send(true, append(without(get(), ":authority"), "host", "b.test")...)
	if got := within(t, "the call", seen); got.Host != "b.test" {
		t.Errorf("without an authority: %q", got.Host)
	}
	c.send(true, get("host", "other.test")...)
	if got := within(t, "the call", seen); got.Host != "a.test" || got.Header.Get("Host") != "other.test" {
		t.Errorf("another host is hidden: %q, %v", got.Host, got.Header)
	}
	c.send(true, ":method", "CONNECT", ":authority", "a.test:443")
	if got := within(t, "the call", seen); got.Method != "CONNECT" || got.Host != "a.test:443" {
		t.Errorf("CONNECT: %+v", got)
	}
}

func TestServer_expectContinue(t *testing.T) {
	r := newRig(t, limits(), func(w http.ResponseWriter, req *http.Request) { _, _ = io.Copy(w, req.Body) })
	c := r.dial()
	id := c.send(false, post("expect", "100-continue")...)
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if head, ok := frame.(*http2.MetaHeadersFrame); ok {
			if head.PseudoValue("status") != "100" {
				t.Fatalf("answered %v", head)
			}
			break
		}
	}
	_ = c.frames.WriteData(id, true, []byte("hello"))
	if g := c.receive(id); g.body != "hello" {
		t.Errorf("got %v %q", g, g.body)
	}
}

func TestServer_deadlines(t *testing.T) {
	result := make(chan error, 1)
	for name, handler := range map[string]http.HandlerFunc{
		"of a read": func(w http.ResponseWriter, req *http.Request) {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			_, err := req.Body.Read(make([]byte, 1))
			result <- err
		},
		"of a read that has begun": func(w http.ResponseWriter, req *http.Request) {
			time.AfterFunc(50*time.Millisecond, func() {
				_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
			})
			_, err := req.Body.Read(make([]byte, 1))
			result <- err
		},
		"of a write": func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
			_, err := w.Write(make([]byte, 64<<10))
			result <- err
		},
		"of a write that has begun": func(w http.ResponseWriter, _ *http.Request) {
			time.AfterFunc(50*time.Millisecond, func() {
				_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
			})
			_, err := w.Write(make([]byte, 64<<10))
			result <- err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, limits(), handler)
			c := r.dial(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10})
			c.send(false, post()...)
			err := within(t, "the end", result)
			if err == nil || strings.Contains(name, "read") && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestServer_panics(t *testing.T) {
	faults := make(chan any, 1)
	r := newRig(t, limits(), func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			panic("a fault")
		}
		answerOK(w, req)
	})
	r.server.Recovered = func(fault any, _ []byte) { faults <- fault }
	c := r.dial()
	if g := c.receive(c.send(true, post()...)); g.String() != "reset: INTERNAL_ERROR" {
		t.Errorf("got %v", g)
	}
	if fault := within(t, "the report", faults); fault != "a fault" {
		t.Errorf("reported %v", fault)
	}
	c.works()
}
