package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"postern/core/openapi"
	"postern/core/openapi/validate"
	"postern/platform/turns"
)

// The least recently used one is dropped, and compiled again when it is called.
func TestValidators(t *testing.T) {
	t.Parallel()
	document := func(i int) []byte {
		return fmt.Appendf(nil, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/%d":{"put":{`+
			`"requestBody":{"content":{"application/json":{"schema":{"allOf":[%s{}]}}}}}}}}`,
			i, strings.Repeat(`{"minLength":1},`, 100))
	}
	validatorOf := func(in *validators, i int, workspace string) *validator {
		return &validator{in: in, document: document(i), workspace: workspace}
	}
	get := func(v *validator) *validate.Validator {
		t.Helper()
		made, err := v.get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	_, size, err := validatorOf(nil, 0, "").compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if size < 1000 || size > openapi.Memory.Most {
		t.Fatalf("%d bytes", size)
	}
	all := &validators{most: Documents{Memory: 3*size + size/2, Unclaimed: size + size/2}}
	var v []*validator
	for i := range 4 {
		v = append(v, validatorOf(all, i, ""))
	}
	compiled := func(want string) {
		t.Helper()
		got := ""
		for _, one := range v {
			got += map[bool]string{true: "x", false: "-"}[one.compiled.Load() != nil]
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	first := get(v[0])
	get(v[1])
	get(v[2])
	if get(v[0]) != first {
		t.Error("compiled twice")
	}
	compiled("xxx-")
	get(v[3])
	compiled("x-xx")
	if _, ok := get(v[1]).Find("PUT", "/1"); !ok {
		t.Error("not compiled again")
	}
	compiled("xx-x")

	v = []*validator{v[1], validatorOf(all, 5, "")} // the others are of versions that are gone
	runtime.GC()
	get(v[1])
	if compiled("xx"); len(all.kept) != 2 {
		t.Errorf("%d are kept, want 2", len(all.kept))
	}

	v = []*validator{v[1], validatorOf(all, 6, "team_a"), validatorOf(all, 7, "team_a"), validatorOf(all, 8, "team_b")}
	runtime.GC()
	get(v[1])
	get(v[3])
	compiled("xx-x")
	get(v[2]) // a workspace has room for one document
	compiled("x-xx")
}

// A caller that leaves while a document waits for its place is not kept waiting, and the next call compiles it.
func TestValidators_leaving(t *testing.T) {
	t.Parallel()
	all := &validators{most: Documents{}.withDefaults()}
	document := []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`)
	v := &validator{in: all, document: document}
	var leave []func()
	for range turns.Most() {
		one, err := all.places.Take(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, one)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, one := range leave {
		one()
	}
	if made, err := v.get(t.Context()); made == nil || err != nil {
		t.Errorf("%v, %v", made, err)
	}
}

// The work goes on while any call waits for it, also when the call that began it has left, and ends with the last one.
func TestValidators_together(t *testing.T) {
	t.Parallel()
	document := []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`)
	for name, tc := range map[string]struct{ first, second bool }{ // who leaves
		"no one leaves":     {false, false},
		"the first leaves":  {true, false},
		"the second leaves": {false, true},
		"both leave":        {true, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := &validator{in: &validators{most: Documents{}.withDefaults()}, document: document}
			var places []func()
			for range turns.Most() {
				leave, err := v.in.places.Take(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				places = append(places, leave)
			}
			var ends [2]func()
			var errs [2]error
			var all sync.WaitGroup
			for i := range ends {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ends[i] = cancel
				all.Go(func() { _, errs[i] = v.get(ctx) })
				synctest.Wait() // it waits for its place
			}
			work := v.making
			for i, leaves := range []bool{tc.first, tc.second} {
				if leaves {
					ends[i]()
					synctest.Wait()
				}
			}
			if over := v.making == nil; over != (tc.first && tc.second) {
				t.Errorf("%s: the work is over: %v", name, over)
			}
			for _, leave := range places {
				leave()
			}
			all.Wait()
			<-work.done
			for i, left := range []bool{tc.first, tc.second} {
				if errors.Is(errs[i], context.Canceled) != left || !left && errs[i] != nil {
					t.Errorf("%s: call %d: %v", name, i, errs[i])
				}
			}
			if ended := errors.Is(work.err, context.Canceled); ended != (tc.first && tc.second) {
				t.Errorf("%s: the work: %v", name, work.err)
			}
		})
	}
}

// A fault in the work is an error of the calls that wait for it.
func TestValidators_fault(t *testing.T) {
	t.Parallel()
	v := &validator{} // in nothing
	m := v.wait()
	defer v.leave(m)
	if <-m.done; m.made != nil || m.err == nil || !strings.Contains(m.err.Error(), "panic") {
		t.Errorf("%v, %v", m.made, m.err)
	}
}
