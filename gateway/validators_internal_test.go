package gateway

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"postern/core/openapi"
)

// What was called least recently is dropped, and compiled again when it is called.
func TestValidators(t *testing.T) {
	t.Parallel()
	document := func(i int) []byte {
		return fmt.Appendf(nil, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/%d":{"put":{`+
			`"requestBody":{"content":{"application/json":{"schema":{"allOf":[%s{}]}}}}}}}}`,
			i, strings.Repeat(`{"minLength":1},`, 100))
	}
	_, size := compileRequests(document(0))
	if size < 1000 || size > openapi.Memory.Most {
		t.Fatalf("%d bytes", size)
	}
	all := &validators{most: 3*size + size/2}
	var v []*validator
	for i := range 4 {
		v = append(v, &validator{in: all, document: document(i)})
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
	first := v[0].get()
	v[1].get()
	v[2].get()
	if v[0].get() != first {
		t.Error("compiled twice")
	}
	compiled("xxx-")
	v[3].get()
	compiled("x-xx")
	if _, ok := v[1].get().Find("PUT", "/1"); !ok {
		t.Error("not compiled again")
	}
	compiled("xx-x")

	v = []*validator{v[1], {in: all, document: document(5)}} // the others are of versions that are gone
	runtime.GC()
	v[1].get()
	if compiled("xx"); len(all.kept) != 2 {
		t.Errorf("%d are kept, want 2", len(all.kept))
	}
}
