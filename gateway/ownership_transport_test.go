package gateway_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
)

// callHTTP2 sends a call with an HTTP/2 client.
func (r *rig) callHTTP2(t *testing.T, method, path string, body io.Reader) *http.Response {
	t.Helper()
	secure := r.secure.Clone()
	secure.NextProtos = []string{"h2"}
	client := &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   secure,
		DialTLSContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&tls.Dialer{Config: secure}).DialContext(ctx, network, r.addr)
		},
	}}
	t.Cleanup(client.CloseIdleConnections)
	ask, err := http.NewRequestWithContext(t.Context(), method, "https://shop.proxy.test/1.0.0/prod"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("X-API-Key", r.key)
	answer, err := client.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.ProtoMajor != 2 {
		t.Fatalf("the call was made with %s", answer.Proto)
	}
	return answer
}

// A caller of HTTP/2 gets the end of an answer once its owner is recorded, and is the owner then.
func TestOwnership_http2(t *testing.T) {
	for name, created := range map[string]http.HandlerFunc{
		"length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"data": {"id": "n1"}}`)
		},
		"chunked": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data": {"id"`)
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, `: "n1"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := &owners{wait: make(chan struct{})}
			release := sync.OnceFunc(func() { close(o.wait) })
			defer release()
			r := newRig(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					created(w, r)
				}
			}, overTLS(newPair(t)), withOwners(o))
			ended := make(chan error, 1)
			go func() {
				answer := r.callHTTP2(t, "POST", "/orders", strings.NewReader(`{"of": "books"}`))
				_, err := io.ReadAll(answer.Body)
				ended <- err
			}()
			if got := r.callHTTP2(t, "GET", "/orders/n1", nil); got.StatusCode != http.StatusForbidden {
				t.Errorf("before: %d", got.StatusCode)
			}
			select {
			case <-ended:
				t.Error("the answer ended before its owner was recorded")
			default:
			}
			release()
			if err := within(t, "the end", ended); err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{"GET", "HEAD"} {
				if got := r.callHTTP2(t, method, "/orders/n1", nil); got.StatusCode != http.StatusOK {
					t.Errorf("%s by the owner: %d", method, got.StatusCode)
				}
				if got := r.callHTTP2(t, method, "/orders/n2", nil); got.StatusCode != http.StatusForbidden {
					t.Errorf("%s of another object: %d", method, got.StatusCode)
				}
			}
		})
	}
}

// GET includes HEAD: the owner is asked for, and an answer without a body names no object.
func TestOwnership_head(t *testing.T) {
	onBothPaths(t, func(t *testing.T, option rigOption) {
		o := &owners{}
		r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "21")
		}, withOwners(o), option)
		o.Record(gateway.OwnerChange{ProjectID: "prj_shop", TenantID: "tnt_1", User: "billing", Object: "order:42"})
		o.got = nil
		if got := r.call("HEAD", shopOrders+"/42"); got.StatusCode != http.StatusOK || got.body != "" {
			t.Errorf("by the owner: %d %q", got.StatusCode, got.body)
		}
		if got := r.call("HEAD", shopOrders+"/43"); got.StatusCode != http.StatusForbidden || got.body != "" {
			t.Errorf("of another object: %d %q", got.StatusCode, got.body)
		}
		if o.changes() != "" {
			t.Errorf("recorded %q", o.changes())
		}
	})
}

// An upstream may answer before it has read the request (RFC 9112, 9.3): the caller owns what it names.
func TestOwnership_earlyAnswers(t *testing.T) {
	const answer = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"length":  answer + lengthBody(`{"data": {"id": 7}}`),
		"chunked": answer + "Transfer-Encoding: chunked\r\n\r\n" + chunkedBody(`{"data": `, `{"id": 7}}`),
	} {
		t.Run(name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, option rigOption) {
				answered := make(chan error, 1)
				target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
					if _, err := readHead(from); err == nil {
						_, err = io.WriteString(conn, text)
						answered <- err
						_, _ = io.Copy(io.Discard, from)
					}
				})
				o := &owners{}
				r := newRig(t, nil, withTarget(target), withOwners(o), option)
				conn := r.dial()
				defer func() { _ = conn.Close() }()
				_, _ = io.WriteString(conn, request("POST", shopOrders, r.addr, "X-API-Key: "+r.key,
					"Content-Length: 1000")+strings.Repeat("x", 400))
				if err := within(t, "the answer", answered); err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(conn, strings.Repeat("x", 600))
				got, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(got.Body)
				if err != nil || got.StatusCode != http.StatusCreated || string(body) != `{"data": {"id": 7}}` {
					t.Errorf("%d %q, %v", got.StatusCode, body, err)
				}
				if o.changes() != "prj_shop tnt_1 billing order:7;" {
					t.Errorf("recorded %q", o.changes())
				}
			})
		})
	}
}

// An answer without a body names no object by its own, but by the path of the call.
func TestOwnership_emptyAnswers(t *testing.T) {
	rules := snapshot.Rules{List: []snapshot.Rule{
		{ID: "rul_put", Methods: []string{"PUT"}, Path: "/orders/{id}", Remember: "order:{id}"},
	}}
	for name, head := range map[string]string{
		"204":           "HTTP/1.1 204 No Content\r\n\r\n",
		"201 empty":     "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
		"chunked empty": "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTML":          "HTTP/1.1 201 Created\r\nContent-Type: text/html\r\n" + lengthBody("<p>"),
		"brotli":        "HTTP/1.1 201 Created\r\nContent-Encoding: br\r\n" + lengthBody("x"),
	} {
		t.Run(name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, option rigOption) {
				target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
					if _, err := readHead(from); err == nil {
						_, _ = io.WriteString(conn, head)
					}
				})
				o := &owners{}
				r := newRig(t, nil, withTarget(target), withOwners(o), withRules(rules), option)
				r.call("PUT", shopOrders+"/9", "Content-Length: 0")
				if o.changes() != "prj_shop tnt_1 billing order:9;" {
					t.Errorf("recorded %q", o.changes())
				}
			})
		})
	}
}

// The upstream's answer counts, not what transforms make of it.
func TestOwnership_transformedAnswers(t *testing.T) {
	o := &owners{}
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data": {"id": 5}, "secret": 1}`)
	}, withOwners(o), withProject(func(p *snapshot.Project) {
		p.Versions[0].Transforms.ResponseBody.Remove = []string{"data", "secret"}
	}))
	got := r.call("POST", shopOrders, "Content-Length: 0")
	if got.StatusCode != http.StatusOK || strings.Contains(got.body, "data") {
		t.Errorf("%d %q", got.StatusCode, got.body)
	}
	if o.changes() != "prj_shop tnt_1 billing order:5;" {
		t.Errorf("recorded %q", o.changes())
	}
}

// A change that is lost, because too many wait, holds up nothing and is counted.
func TestOwnership_lostChanges(t *testing.T) {
	for _, method := range []string{"POST", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, option rigOption) {
				o, seen := &owners{}, outcomes{make(chan gateway.Outcome, 10)}
				r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"data": {"id": 42}}`)
				}, withOwners(o), option, func(_ *rig, o *gateway.Options) { o.Observer = seen })
				o.Record(gateway.OwnerChange{
					ProjectID: "prj_shop", TenantID: "tnt_1", User: "billing", Object: "order:42",
				})
				o.full = true
				path := shopOrders
				if method == "DELETE" {
					path += "/42"
				}
				if got := r.call(method, path, "Content-Length: 0"); got.StatusCode != http.StatusOK {
					t.Errorf("%d %s", got.StatusCode, got.body)
				}
				if out := within(t, "the outcome", seen.got); out.MissReason != "too_many_wait" {
					t.Errorf("observed %s", fmt.Sprintf("%+v", out))
				}
			})
		})
	}
}
