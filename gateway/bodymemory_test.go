package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// holdingUpstream answers with a JSON object of 100,000 bytes. To calls with ?hold it sends the first half, and the
// rest once go on is closed; with ?long it sends four times as much.
func holdingUpstream(goOn <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		half := strings.Repeat("x", 50_000)
		_, _ = io.WriteString(w, `{"data":{"id":"1"},"a":"`+half)
		if r.URL.Query().Has("hold") {
			_ = http.NewResponseController(w).Flush()
			<-goOn
		}
		if r.URL.Query().Has("long") {
			half += half + half + half + half + half + half
		}
		_, _ = io.WriteString(w, half+`"}`)
	}
}

// Every body that is held whole counts: beyond the budget calls are refused with a wait, and what a call has held is
// free once it has ended.
func TestBodyMemory(t *testing.T) {
	t.Parallel()
	changes := snapshot.Changes{Add: []string{"added:1"}}
	withBodies := func(bytes int64) rigOption {
		return func(_ *rig, o *gateway.Options) { o.Limits.Bodies, o.Limits.BodiesOfOne = bytes, bytes }
	}
	changesRequests := withProject(func(p *snapshot.Project) { p.Versions[0].Transforms.RequestBody = changes })
	changesAnswers := withProject(func(p *snapshot.Project) {
		p.Versions[0].Transforms.ResponseBody = snapshot.BodyChanges{Changes: changes}
	})
	found := &owners{} // in answers
	for name, tc := range map[string]struct {
		options []rigOption
		answers bool  // what is held is the answer
		budget  int64 // that is enough for one call
		full    string
		long    string
	}{
		"validated": {
			[]rigOption{withDocument(snapshot.ValidationEnforce, "")}, false, 450_000, "503 busy", "413 body_too_large",
		},
		"only reported": {
			[]rigOption{withDocument(snapshot.ValidationReport, "")}, false, 450_000, "200 ", "200 ",
		},
		"changed":        {[]rigOption{changesRequests}, false, 300_000, "503 busy", "413 body_too_large"},
		"changed answer": {[]rigOption{changesAnswers}, true, 270_000, "503 busy", "502 response_too_large"},
		"searched":       {[]rigOption{withOwners(found)}, true, 150_000, "200 ", "200 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			goOn := make(chan struct{})
			o := outcomes{make(chan gateway.Outcome, 10)}
			observed := func(_ *rig, options *gateway.Options) { options.Observer = o }
			r := newRig(t, holdingUpstream(goOn), append(tc.options, withBodies(tc.budget), observed)...)
			send := func(query string, size int) string {
				got := r.raw(jsonRequest("/shop/1.0.0/prod/orders"+query, r.addr, priced(size), "X-API-Key: "+r.key))
				if busy := got.code() == "busy"; busy != (got.Header.Get("Retry-After") == "1") {
					t.Errorf("%d %s: Retry-After %q", got.StatusCode, got.code(), got.Header.Get("Retry-After"))
				}
				return fmt.Sprintf("%d %s", got.StatusCode, got.code())
			}
			if got := send("", 100_000); got != "200 " {
				t.Fatalf("alone: %s", got)
			}
			within(t, "its outcome", o.got)
			released := func() { // which an answered call may still have to do
				t.Helper()
				testkit.Eventually(t, "nothing is held", func() bool { return r.gateway.HeldBodies() == 0 })
			}
			released()
			first := r.dial()
			defer func() { _ = first.Close() }()
			whole := jsonRequest("/shop/1.0.0/prod/orders?hold", r.addr, priced(100_000), "X-API-Key: "+r.key)
			sent, held := len(whole), int64(50_000)
			if !tc.answers {
				sent, held = sent-20_000, 80_000
			}
			if _, err := io.WriteString(first, whole[:sent]); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, "a body is held", func() bool { return r.gateway.HeldBodies() >= held })
			if got := send("", 100_000); got != tc.full {
				t.Errorf("next to it: %s, want %s", got, tc.full)
			}
			if out := within(t, "its outcome", o.got); out.Forwarded != (tc.answers || out.Code == "") {
				t.Errorf("next to it: %s, and the call forwarded: %v", out.Code, out.Forwarded)
			}
			close(goOn)
			if _, err := io.WriteString(first, whole[sent:]); err != nil {
				t.Fatal(err)
			}
			if got := r.readReply(bufio.NewReader(first), "POST"); got.StatusCode != http.StatusOK {
				t.Errorf("the first: %d %s", got.StatusCode, got.body)
			}
			released()
			if got := send("", 100_000); got != "200 " {
				t.Errorf("afterward: %s", got)
			}
			released()
			if got := send("?long", 400_000); got != tc.long {
				t.Errorf("a longer one: %s, want %s", got, tc.long)
			}
			testkit.Eventually(t, "nothing is held", func() bool { return r.gateway.HeldBodies() == 0 })
			if got := strings.Count(found.changes(), "order:1"); name == "searched" && got != 3 {
				t.Errorf("of the answers, %d were searched, want those of three calls", got)
			}
		})
	}
}

// priced returns an order of that many bytes.
func priced(size int) string {
	const begin, end = `{"price":1,"x":"`, `"}`
	return begin + strings.Repeat("x", size-len(begin)-len(end)) + end
}

// A caller who sends many bodies slowly holds the share of its address, and leaves the rest to others.
func TestBodyMemory_addressShare(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, withDocument(snapshot.ValidationEnforce, ""), func(_ *rig, o *gateway.Options) {
		o.Limits.Bodies, o.Limits.BodiesOfOne = 16<<20, 16<<20 // of which an address has 4 MB
	})
	whole := jsonRequest("/shop/1.0.0/prod/orders", r.addr, priced(1_000_000), "X-API-Key: "+r.key)
	for n := range int64(5) {
		slow := r.from("127.0.0.2")
		if _, err := io.WriteString(slow, whole[:len(whole)-300_000]); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "a body is held", func() bool { return r.gateway.HeldBodies() >= (n+1)*700_000 })
	}
	small := jsonRequest("/shop/1.0.0/prod/orders", r.addr, priced(200_000), "X-API-Key: "+r.key)
	same := r.from("127.0.0.2")
	if _, err := io.WriteString(same, small); err != nil {
		t.Fatal(err)
	}
	got := r.readReply(bufio.NewReader(same), "POST")
	if r.wantCode("the same address", got, 429, "rate_limited"); got.Header.Get("Retry-After") != "1" {
		t.Errorf("it is told to come back after %q", got.Header.Get("Retry-After"))
	}
	r.wantCode("another address", r.raw(small), 200, "")
}

// The memory of values that were read counts too.
func TestBodyMemory_values(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, withDocument(snapshot.ValidationEnforce, ""), func(_ *rig, o *gateway.Options) {
		o.Limits.Bodies, o.Limits.BodiesOfOne = 4<<20, 4<<20
	})
	for name, tc := range map[string]struct{ element, want string }{
		"text":    {`"` + strings.Repeat("x", 98) + `"`, "200"},
		"objects": {`{"a":1}`, "413"},
		"numbers": {`1`, "413"},
	} {
		body := `{"price":1,"all":[` + strings.Repeat(tc.element+",", 200_000/(len(tc.element)+1)) + `1]}`
		if got := r.raw(jsonRequest("/shop/1.0.0/prod/orders", r.addr, body, "X-API-Key: "+r.key)); fmt.Sprint(
			got.StatusCode) != tc.want {
			t.Errorf("%s: %d %s, want %s", name, got.StatusCode, got.body, tc.want)
		}
	}
	testkit.Eventually(t, "nothing is held", func() bool { return r.gateway.HeldBodies() == 0 })
}
