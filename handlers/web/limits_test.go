package web_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/core/filelimits"
	"postern/handlers/web"
)

// exactBodies have exactly n of what a limit is on.
var exactBodies = []struct {
	limit *filelimits.Limit
	body  func(n int) string
}{
	{filelimits.BodyNesting, func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }},
	{filelimits.BodyNesting, func(n int) string { // the object that holds the document is a level
		return `{"openapi":{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `},"b":` +
			strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}},
	{filelimits.BodyMember, func(n int) string { return `{"` + strings.Repeat("a", n) + `":1}` }},
	{filelimits.BodyValues, func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("0,", n), ",") + "]" }},
}

func TestUnmarshalBody_limits(t *testing.T) {
	t.Parallel()
	for _, tt := range exactBodies {
		for n := tt.limit.Most - 1; n <= tt.limit.Most+1; n++ {
			checkBody(t, tt.limit, tt.body(int(n)), n)
		}
	}
}

func checkBody(t *testing.T, limit *filelimits.Limit, body string, n int64) {
	t.Helper()
	var into any
	err := web.UnmarshalBody([]byte(body), &into)
	if n > limit.Most != (err != nil) || err != nil && !strings.Contains(strings.ToLower(err.Error()),
		strings.ToLower(limit.Refusal())) {
		t.Errorf("%s: %d of %d: %v", limit.Name, n, limit.Most, err)
	}
	if _, known := web.BodyRefusal(fmt.Sprint(err)); err != nil && limit != filelimits.BodyMember && !known {
		t.Errorf("%s: the refusal does not have its own code", limit.Name)
	}
}

// FuzzUnmarshalBody counts independently: a body with n of what is limited is refused if n exceeds the limit. Bodies
// of the last kind are large.
func FuzzUnmarshalBody(f *testing.F) {
	exactBodies := exactBodies[:3]
	for kind := range exactBodies {
		f.Add(kind, int(exactBodies[kind].limit.Most))
	}
	f.Fuzz(func(t *testing.T, kind, n int) {
		of := exactBodies[int(uint(kind)%uint(len(exactBodies)))]
		count := 2 + int64(uint(n)%uint(2*of.limit.Most))
		checkBody(t, of.limit, of.body(int(count)), count)
	})
}
