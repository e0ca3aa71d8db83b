package login

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/platform/federation"
	"postern/service/appclients"
)

// A provider's claims are stored within bounds, however many rules name them and however
// much longer their JSON is: an escaped "<" takes six bytes.
func TestStatedBy_bounds(t *testing.T) {
	t.Parallel()
	long := make([]string, 20)
	for i := range long {
		long[i] = strings.Repeat("<", 998) + fmt.Sprintf("%02d", i)
	}
	object := map[string]any{"long": long, "short": "staff"}
	for i := range 200 {
		object[fmt.Sprintf("other%03d", i)] = strings.Repeat("<", 5000)
	}
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	set := federation.Stated(body)
	rule := contract.GroupMapping{Claim: "short", Value: "staff", Match: contract.MatchExact, Group: "grp_0"}
	mappings := []contract.NamedGroupMapping{{GroupMapping: rule}}
	for i := 1; i < appclients.MaxMappings; i++ {
		rule.Claim, rule.Value, rule.Group = "long", long[19], fmt.Sprintf("grp_%d", i)
		mappings = append(mappings, contract.NamedGroupMapping{GroupMapping: rule})
	}
	out := statedBy(federation.Identity{Claims: &set}, mappings)

	size := func(v any) int {
		encoded, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return len(encoded)
	}
	values := make([][]string, len(out.Mappings))
	for i, one := range out.Mappings {
		values[i] = one.Values
	}
	const separators = 4 * appclients.MaxMappings // brackets, commas and "null" of the lists
	if got := size(values); got > maxShownSum+separators {
		t.Errorf("the values of the mappings have %d bytes, want at most %d", got, maxShownSum+separators)
	}
	if got := size(out.Claims); got > 2*maxShownSum {
		t.Errorf("the claims have %d bytes", got)
	}
	if got := len(out.Claims) + out.More; got != len(object) {
		t.Errorf("%d claims are shown or counted, want %d", got, len(object))
	}
	if len(out.Claims) == 0 || out.More == 0 {
		t.Errorf("%d claims are shown and %d are not, want some of each", len(out.Claims), out.More)
	}
	if first := out.Mappings[0]; len(first.Values) != 1 || first.Values[0] != "staff" || first.More != 0 {
		t.Errorf("the first mapping shows %q and %d more, want its whole claim", first.Values, first.More)
	}
	last := out.Mappings[appclients.MaxMappings-1]
	if len(last.Values) != 0 || last.More != len(long) {
		t.Errorf("the last mapping shows %d values and %d more, want all counted", len(last.Values), last.More)
	}
	if !last.Holds {
		t.Error("a mapping does not hold whose value is too long to show")
	}
}
