package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/validate"
	"postern/platform/turns"
)

// What was called least recently is dropped, and compiled again when it is called.
func TestValidators(t *testing.T) {
	t.Parallel()
	document := func(i int) []byte {
		return fmt.Appendf(nil, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/%d":{"put":{`+
			`"requestBody":{"content":{"application/json":{"schema":{"allOf":[%s{}]}}}}}}}}`,
			i, strings.Repeat(`{"minLength":1},`, 100))
	}
	validatorOf := func(in *validators, i int, workspace string) *validator {
		return &validator{in: in, document: document(i), workspace: workspace, making: make(chan struct{}, 1)}
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

// Who leaves while a document waits for its place is not kept waiting, and the next call compiles it.
func TestValidators_leaving(t *testing.T) {
	t.Parallel()
	all := &validators{most: Documents{}.withDefaults()}
	document := []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`)
	v := &validator{in: all, document: document, making: make(chan struct{}, 1)}
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
