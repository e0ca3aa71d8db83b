package contract_test

import (
	"fmt"
	"testing"

	"postern/core/contract"
)

// However many kinds of items a plan has, its ledger stays small, and counts all of them.
func TestLines_many(t *testing.T) {
	plan := contract.ImportPlan{Source: "kong 3.0"}
	for i := range 100_000 {
		status := []string{"exact", "skipped"}[i%2]
		plan.Items = append(plan.Items, contract.ImportItem{
			Kind: "plugin", Title: fmt.Sprint("Plugin p", i/2), Name: fmt.Sprint("p", i), Status: status,
			Codes: []string{"plugin." + status}, Note: "A note.", Remedy: new("A remedy."),
		})
	}
	lines := plan.Lines()
	counts := map[string]int64{}
	for _, line := range lines {
		counts[line.Status] += line.Count
	}
	if len(lines) != 502 || counts["exact"] != 50_000 || counts["skipped"] != 50_000 {
		t.Fatalf("%d lines with %v", len(lines), counts)
	}
	if first := lines[0]; first.Code != "kong.plugin.exact" || first.Count != 1 || first.Remedy == nil {
		t.Errorf("the first line: %+v", first)
	}
	last := lines[501]
	if last.Code != "kong.others" || last.Kind != "others" || last.Title != "Others" || last.Count != 49_750 ||
		last.Remedy != nil || last.Note == "A note." || len(last.Names) != 20 {
		t.Errorf("the last line: %+v", last)
	}
}
