package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a control plane and a gateway that follow the contract but for one defect.
type fake struct {
	defect string

	mu       sync.Mutex
	keys     []*fakeKey
	calls    int
	requests int
	ending   bool // only what is read back at the end is still asked for
}

type fakeKey struct {
	apiKey

	old       string // secret before the last rotation
	oldEnds   time.Time
	changedAt time.Time
	before    string // state
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	status, body := http.StatusOK, any(nil)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/call":
		w.Header().Set(gatewayHeader, "a")
		status, body = f.call(r.Header.Get("X-API-Key"))
	case f.defect == "one request in 20 answers 503" && f.late():
		status = http.StatusServiceUnavailable
	case r.Method == http.MethodPost && parts[2] == "projects":
		body = f.create(r)
	case r.Method == http.MethodPost:
		body = f.change(r, parts[3], parts[4])
	case parts[len(parts)-1] == "keys":
		var items []apiKey
		for _, k := range f.keys {
			if f.defect != "a created key is not kept" || len(items) > 3 {
				items = append(items, k.apiKey)
			}
		}
		body = map[string]any{"items": items}
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (f *fake) create(r *http.Request) apiKey {
	k := &fakeKey{}
	_ = json.NewDecoder(r.Body).Decode(&k.apiKey)
	k.ID, k.State, k.before = fmt.Sprintf("key_%d", len(f.keys)), "active", "active"
	k.Key = k.ID + "-1"
	f.keys = append(f.keys, k)
	answer := k.apiKey
	k.Last4 = lastOf(k.Key)
	return answer
}

func (f *fake) change(r *http.Request, id, how string) apiKey {
	for _, k := range f.keys {
		if k.ID != id {
			continue
		}
		k.before, k.changedAt = k.State, time.Now()
		switch how {
		case "rotate":
			var in struct {
				Grace int64 `json:"grace_seconds"`
			}
			_ = json.NewDecoder(r.Body).Decode(&in)
			k.old, k.Key, k.oldEnds = k.Key, k.Key+"x", time.Now().Add(time.Duration(in.Grace)*time.Second)
			if k.GraceEndsAt = nil; in.Grace > 0 {
				k.GraceEndsAt = new(k.oldEnds)
			}
			if f.defect == "a grace period is cut short" {
				k.oldEnds = time.Now()
			}
			if f.defect != "a rotation is not kept" {
				k.Last4 = lastOf(k.Key)
			}
			return k.apiKey
		case "freeze":
			k.State = "frozen"
		case "unfreeze":
			k.State = "active"
		case "revoke":
			k.State = "revoked"
		}
		answer := k.apiKey
		if f.defect == "a revocation is not kept" && k.State == "revoked" {
			k.State = "active"
		}
		return answer
	}
	return apiKey{}
}

func lastOf(text string) string { return text[max(0, len(text)-4):] }

// late counts requests, and is true for one in 20.
func (f *fake) late() bool {
	f.requests++
	return f.requests%20 == 0
}

// call is the gateway's decision.
func (f *fake) call(text string) (status int, body map[string]string) {
	f.calls++
	if f.defect == "one call in 20 answers 500" && f.calls%20 == 0 ||
		f.defect == "calls at the end answer 500" && f.ending {
		return http.StatusInternalServerError, nil
	}
	for _, k := range f.keys {
		state := k.State
		if f.defect == "a change takes two seconds" && time.Since(k.changedAt) < 2*time.Second {
			state = k.before
		}
		switch {
		case text != k.old && text != k.Key:
			continue
		case text == k.old && time.Now().After(k.oldEnds) && f.defect != "the secret before a rotation is let in":
			continue
		case state == "frozen":
			return http.StatusForbidden, map[string]string{"code": "key_frozen"}
		case state == "revoked" && f.defect != "a revoked key is let in":
			continue
		case f.defect == "one call in 20 is refused" && f.calls%20 == 0:
			continue
		case f.defect == "one call in 20 is another key's" && f.calls%20 == 0:
			return http.StatusOK, map[string]string{"key": f.keys[0].ID + "0", "owner": k.Owner}
		}
		return http.StatusOK, map[string]string{"key": k.ID, "owner": k.Owner}
	}
	return http.StatusUnauthorized, map[string]string{"code": "invalid_key"}
}

// TestSoak_defects runs the load and the model against a gateway with a defect.
func TestSoak_defects(t *testing.T) {
	for defect, want := range map[string]string{
		"":                                       "",
		"a revoked key is let in":                "wrong decisions",
		"a change takes two seconds":             "wrong decisions",
		"the secret before a rotation is let in": "wrong decisions",
		"a grace period is cut short":            "wrong decisions",
		"one call in 20 is refused":              "wrong decisions",
		"one call in 20 is another key's":        "wrong decisions",
		"a created key is not kept":              "lost writes",
		"a rotation is not kept":                 "lost writes",
		"a revocation is not kept":               "lost writes",
		"one call in 20 answers 500":             "calls failed: calm",
		"calls at the end answer 500":            "calls failed: reading back",
		"one request in 20 answers 503":          "had to be sent again: calm",
	} {
		t.Run(defect, func(t *testing.T) {
			t.Parallel()
			plane := &fake{defect: defect}
			server := httptest.NewServer(plane)
			defer server.Close()
			r := &run{model: newModel(), usage: newUsage(), began: time.Now()}
			r.api = &api{http: server.Client(), base: server.URL, phases: &r.phases}
			r.changer = &changer{api: r.api, project: "prj", model: r.model, target: 20}
			r.caller = &caller{http: server.Client(), url: server.URL + "/call"}
			r.phases.enter(calm)
			for range 20 {
				r.note(r.changer.create(t.Context()))
			}
			ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
			defer stop()
			var running sync.WaitGroup
			r.settings.changes = 40
			running.Go(func() { r.change(t.Context(), ctx) })
			arrive(ctx, 600, 8, func(due time.Time) { r.callOnce(t.Context(), due) }, r.phases.missed)
			running.Wait()
			plane.mu.Lock()
			plane.ending = true
			plane.mu.Unlock()
			r.phases.enter(atEnd)
			r.note(r.compare(t.Context()))
			r.callAll(t.Context())
			r.phases.end()
			got := errors.Join(append(r.phases.faults(), r.decisionsAndWrites())...)
			if want == "" && got != nil {
				t.Errorf("a gateway without a defect fails: %v", got)
			}
			if want != "" && (got == nil || !strings.Contains(got.Error(), want)) {
				t.Errorf("found %v, want %s", got, want)
			}
		})
	}
}
