package gateway

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/snapshot"
	"postern/gateway/engine"
	"postern/testkit"
)

// A header that keeps one line has the values of an append, and of several lines that are renamed to it, joined.
func TestHeaderChanges_oneLine(t *testing.T) {
	changes := compileChanges(snapshot.Changes{
		Rename: []string{"X-Two:Referer"}, Append: []string{"user-agent:b", "X-Mine:2", "ETag:x", "ETag:y"},
	})
	sent := []engine.Field{
		{Name: "User-Agent", Value: "a"}, {Name: "X-Two", Value: "1"}, {Name: "x-two", Value: "2"},
		{Name: "X-Mine", Value: "1"},
	}
	want := http.Header{
		"User-Agent": {"a, b"}, "Referer": {"1, 2"}, "X-Mine": {"1", "2"}, "Etag": {"x, y"},
	}
	for name, change := range testkit.ByName(map[string]func([]engine.Field) []engine.Field{
		"request": changes.request, "response": changes.response,
	}) {
		got := http.Header{}
		for _, f := range change(sent) {
			got.Add(f.Name, f.Value)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
