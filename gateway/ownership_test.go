package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// owners is an Ownership in memory.
type owners struct {
	mu   sync.Mutex
	held map[policy.RelationKey]bool
	got  []gateway.OwnerChange
	wait chan struct{} // Record waits until it is closed; nil: it does not
	full bool
}

func (o *owners) Holds(projectID string, key policy.RelationKey) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return projectID == "prj_shop" && o.held[key]
}

func (o *owners) Record(c gateway.OwnerChange) bool {
	if o.wait != nil {
		<-o.wait
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, c)
	if c.User != "" {
		o.held[policy.KeyOf(c.TenantID, c.User, policy.OwnerRelation, c.Object)] = true
	} else {
		o.held = map[policy.RelationKey]bool{}
	}
	return !o.full
}

func (o *owners) changes() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := ""
	for _, c := range o.got {
		out += fmt.Sprintf("%s %s %s %s;", c.ProjectID, c.TenantID, c.User, c.Object)
	}
	return out
}

func withOwners(o *owners) rigOption {
	o.held = map[policy.RelationKey]bool{}
	return func(r *rig, options *gateway.Options) {
		withRules(ownerRules)(r, options)
		options.Ownership = o
	}
}

var ownerRules = snapshot.Rules{List: []snapshot.Rule{
	{ID: "rul_new", Methods: []string{"POST"}, Path: "/orders", Remember: "order:{response.data.id}"},
	{ID: "rul_one", Methods: []string{"GET"}, Path: "/orders/{id}", Owner: "order:{id}"},
	{ID: "rul_end", Methods: []string{"DELETE"}, Path: "/orders/{id}", Owner: "order:{id}", Forget: "order:{id}"},
	{ID: "rul_gone", Methods: []string{"POST"}, Path: "/orders/{id}/close", Forget: "order:{id}"},
}}

const shopOrders = "/shop/1.0.0/prod/orders"

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func chunkedBody(parts ...string) string {
	out := ""
	for _, part := range parts {
		out += fmt.Sprintf("%x\r\n%s\r\n", len(part), part)
	}
	return out + "0\r\n\r\n"
}

func lengthBody(text string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
}

// An upstream's answers to POST /orders, and the owners that are remembered from them.
func TestOwnership_remembered(t *testing.T) {
	const (
		created = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
		chunked = "Transfer-Encoding: chunked\r\n\r\n"
		order   = `{"data": {"id": 42, "x": [1]}}`
	)
	large := `{"data": {"id": 42, "x": "` + strings.Repeat("x", policy.MaxAnswer) + `"}}`
	for name, tc := range map[string]struct{ answer, object, miss string }{
		"length":          {created + lengthBody(order), "order:42", ""},
		"chunked":         {created + chunked + chunkedBody(order[:9], order[9:]), "order:42", ""},
		"until close":     {"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + order, "order:42", ""},
		"text":            {created + lengthBody(`{"data": {"id": "a/b ü"}}`), "order:a%2Fb%20%C3%BC", ""},
		"the last counts": {created + lengthBody(`{"data": {"id": 1, "id": 2}}`), "order:2", ""},
		"+json": {
			strings.Replace(created, "application/json", "application/vnd.x+json; charset=utf-8", 1) +
				lengthBody(order), "order:42", "",
		},
		"gzip":        {created + "Content-Encoding: gzip\r\n" + lengthBody(zipped(order)), "order:42", ""},
		"gzip bomb":   {created + "Content-Encoding: gzip\r\n" + lengthBody(zipped(large)), "", "too_large"},
		"broken gzip": {created + "Content-Encoding: gzip\r\n" + lengthBody(order), "", "encoded"},
		"brotli":      {created + "Content-Encoding: br\r\n" + lengthBody(order), "", "encoded"},
		"twice": {
			created + "Content-Encoding: gzip\r\nContent-Encoding: br\r\n" + lengthBody(order), "", "encoded",
		},
		"HTML": {
			"HTTP/1.1 201 Created\r\nContent-Type: text/html\r\n" + lengthBody(order), "", "not_json",
		},
		"no JSON":   {created + lengthBody(`{"data": `), "", "not_json"},
		"no member": {created + lengthBody(`{"data": [{"id": 42}]}`), "", "no_value"},
		"null":      {created + lengthBody(`{"data": {"id": null}}`), "", "no_value"},
		"object":    {created + lengthBody(`{"data": {"id": {}}}`), "", "unusable"},
		"fraction":  {created + lengthBody(`{"data": {"id": 4.2e1}}`), "", "unusable"},
		"exponent":  {created + lengthBody(`{"data": {"id": 1e3}}`), "", "unusable"},
		"20 digits": {
			created + lengthBody(`{"data": {"id": 12345678901234567890}}`), "order:12345678901234567890", "",
		},
		"broken surrogate":  {created + lengthBody(`{"data": {"id": "\ud800"}}`), "", "unusable"},
		"empty text":        {created + lengthBody(`{"data": {"id": ""}}`), "", "unusable"},
		"large":             {created + lengthBody(large), "", "too_large"},
		"large and chunked": {created + chunked + chunkedBody(large), "", "too_large"},
		"204":               {"HTTP/1.1 204 No Content\r\n\r\n", "", "no_body"},
		"empty":             {created + lengthBody(""), "", "no_body"},
		"400": {
			"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n" + lengthBody(order), "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, option rigOption) {
				target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
					if _, err := readHead(from); err == nil {
						_, _ = io.WriteString(conn, tc.answer)
					}
				})
				o, seen := &owners{}, outcomes{make(chan gateway.Outcome, 10)}
				r := newRig(t, nil, withTarget(target), withOwners(o), option,
					func(_ *rig, o *gateway.Options) { o.Observer = seen })
				got := r.call("POST", shopOrders, "Content-Length: 0")
				if strings.HasPrefix(got.body, `{"data"`) && len(got.body) != len(order) && name == "length" {
					t.Errorf("the answer is changed: %q", got.body)
				}
				want := ""
				if tc.object != "" {
					want = "prj_shop tnt_1 billing " + tc.object + ";"
				}
				if o.changes() != want {
					t.Errorf("recorded %q, want %q", o.changes(), want)
				}
				out := within(t, "the outcome", seen.got)
				if out.MissReason != tc.miss || out.TrackedThing != tc.object {
					t.Errorf("observed %+v", out)
				}
			})
		})
	}
}

// The caller doesn't have the whole response before the change is recorded, but everything before its end.
func TestOwnership_recordedBeforeEnd(t *testing.T) {
	for name, chunked := range map[string]bool{"length": false, "chunked": true} {
		t.Run(name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, option rigOption) {
				o := &owners{wait: make(chan struct{})}
				first, rest := `{"data": {"id": "n1"}, "x": "`, `"}`
				more := make(chan struct{})
				goOn := sync.OnceFunc(func() { close(more) })
				release := sync.OnceFunc(func() { close(o.wait) })
				defer goOn()
				defer release()
				r := newRig(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodPost {
						return
					}
					w.Header().Set("Content-Type", "application/json")
					if !chunked {
						w.Header().Set("Content-Length", fmt.Sprint(len(first)+len(rest)))
					}
					_, _ = io.WriteString(w, first)
					w.(http.Flusher).Flush()
					<-more
					_, _ = io.WriteString(w, rest)
				}, withOwners(o), option)
				conn := r.dial()
				defer func() { _ = conn.Close() }()
				_, _ = io.WriteString(conn, request("POST", shopOrders, r.addr, "X-API-Key: "+r.key,
					"Content-Length: 0"))
				early := chunked || !r.netHTTPOnly // net/http buffers what has a length
				if !early {
					goOn()
					release()
				}
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				if early {
					begun := make([]byte, len(first))
					if _, err := io.ReadFull(answer.Body, begun); err != nil || string(begun) != first {
						t.Fatalf("%q, %v", begun, err)
					}
				}
				goOn()
				ended := make(chan error, 1)
				go func() {
					_, err := io.ReadAll(answer.Body)
					ended <- err
				}()
				if early {
					if got := r.get(shopOrders + "/n1"); got.code() != "not_owner" {
						t.Errorf("before: %d %s", got.StatusCode, got.body)
					}
					select {
					case <-ended:
						t.Error("the answer ended before its owner was recorded")
					default:
					}
				}
				release()
				if err := within(t, "the end", ended); err != nil {
					t.Fatal(err)
				}
				r.wantCode("the owner", r.get(shopOrders+"/n1"), 200, "")
				other := r.mint("prod", snapshot.Key{ID: "key_2", Owner: "other"})
				r.wantCode("another", r.get(shopOrders+"/n1", "X-API-Key: "+other), 403, "not_owner")
			})
		})
	}
}

func TestOwnership_brokenAnswers(t *testing.T) {
	onBothPaths(t, func(t *testing.T, option rigOption) {
		target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
			if _, err := readHead(from); err == nil {
				_, _ = io.WriteString(conn,
					"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"+
						`{"data": {"id": 1}}`)
			}
		})
		o, seen := &owners{}, outcomes{make(chan gateway.Outcome, 10)}
		r := newRig(t, nil, withTarget(target), withOwners(o), option,
			func(_ *rig, o *gateway.Options) { o.Observer = seen })
		conn := r.dial()
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, request("POST", shopOrders, r.addr, "X-API-Key: "+r.key, "Content-Length: 0"))
		_, _ = io.ReadAll(conn)
		if out := within(t, "the outcome", seen.got); out.MissReason != "incomplete" || o.changes() != "" {
			t.Errorf("%+v, recorded %q", out, o.changes())
		}
	})
}

func TestOwnership_forgotten(t *testing.T) {
	onBothPaths(t, func(t *testing.T, option rigOption) {
		o := &owners{}
		status := 204
		r := newRig(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }, withOwners(o), option)
		own := func() {
			o.Record(gateway.OwnerChange{ProjectID: "prj_shop", TenantID: "tnt_1", User: "billing", Object: "order:42"})
			o.got = nil
		}
		own()
		r.wantCode("of another", r.call("DELETE", shopOrders+"/43"), 403, "not_owner")
		status = 409
		r.wantCode("refused by the upstream", r.call("DELETE", shopOrders+"/42"), 409, "")
		if o.changes() != "" {
			t.Errorf("recorded %q", o.changes())
		}
		status = 204
		r.wantCode("done", r.call("DELETE", shopOrders+"/42"), 204, "")
		if o.changes() != "prj_shop tnt_1  order:42;" {
			t.Errorf("recorded %q", o.changes())
		}
		r.wantCode("afterward", r.get(shopOrders+"/42"), 403, "not_owner")
		own()
		status = 200
		r.wantCode("by POST", r.call("POST", shopOrders+"/42/close", "Content-Length: 0"), 200, "")
		if o.changes() != "prj_shop tnt_1  order:42;" {
			t.Errorf("recorded %q", o.changes())
		}
	})
}

// Calls without a credential own nothing, also with a fallback owner.
func TestOwnership_fallbackOwners(t *testing.T) {
	onBothPaths(t, func(t *testing.T, option rigOption) {
		o := &owners{}
		r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data": {"id": 1}}`)
		}, withOwners(o), option, withProject(func(p *snapshot.Project) {
			p.FallbackOwner, p.Versions[0].Access.Keyless = "billing", snapshot.OwnerFallback
		}))
		r.wantCode("POST", r.call("POST", shopOrders, noKey, "Content-Length: 0"), 200, "")
		if o.changes() != "" {
			t.Errorf("recorded %q", o.changes())
		}
		r.wantCode("GET", r.get(shopOrders+"/1", noKey), 403, "not_owner")
	})
}

func TestOwnership_interimAnswers(t *testing.T) {
	onBothPaths(t, func(t *testing.T, option rigOption) {
		o := &owners{}
		r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</x>")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data": {"id": 1}}`)
		}, withOwners(o), option)
		conn := r.dial()
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, request("POST", shopOrders, r.addr, "X-API-Key: "+r.key, "Content-Length: 0",
			"Connection: close"))
		if all, err := io.ReadAll(conn); err != nil || !strings.Contains(string(all), `"id": 1`) {
			t.Errorf("%q, %v", all, err)
		}
		if o.changes() != "prj_shop tnt_1 billing order:1;" {
			t.Errorf("recorded %q", o.changes())
		}
	})
}
