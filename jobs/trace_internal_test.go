package jobs

import (
	"testing"

	"github.com/riverqueue/river/rivertype"

	"postern/platform/traces"
)

func TestParentInMetadata(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	span := traces.ParseRemote([]string{parent}, nil)
	for _, tt := range []struct{ name, before, after, parent string }{
		{"none", "", `{"traceparent":"` + parent + `"}`, parent},
		{"others", `{"a":{"b":1}}`, `{"a":{"b":1},"traceparent":"` + parent + `"}`, parent},
		{"no object", `[1]`, `[1]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			after := withParent([]byte(tt.before), span)
			if string(after) != tt.after {
				t.Errorf("got metadata %s, want %s", after, tt.after)
			}
			if got := parentOf(&rivertype.JobRow{Metadata: after}).Parent(); got != tt.parent {
				t.Errorf("got parent %q, want %q", got, tt.parent)
			}
		})
	}
}
