package contract_test

import (
	"fmt"
	"testing"

	"postern/core/contract"
)

func TestLedgerTotals_portable(t *testing.T) {
	for _, c := range []struct {
		configured contract.LedgerCounts
		percent    int64
		headline   string
	}{
		{contract.LedgerCounts{Exact: 12}, 100, "all 12 items that you configured move unchanged"},
		{contract.LedgerCounts{Exact: 11, Lossy: 1}, 91, "11 of the 12 items that you configured move unchanged"},
		{contract.LedgerCounts{Exact: 1048211, Skipped: 1}, 99,
			"1,048,211 of the 1,048,212 items that you configured move unchanged"},
		{contract.LedgerCounts{Exact: 1, Approximate: 999}, 0,
			"1 of the 1,000 items that you configured moves unchanged"},
		{contract.LedgerCounts{Exact: 1}, 100, "the one item that you configured moves unchanged"},
		{contract.LedgerCounts{Lossy: 1}, 0, "the one item that you configured doesn't move unchanged"},
	} {
		var totals contract.LedgerTotals
		totals.Add("exact", true, c.configured.Exact)
		totals.Add("approximate", true, c.configured.Approximate)
		totals.Add("lossy", true, c.configured.Lossy)
		totals.Add("skipped", true, c.configured.Skipped)
		totals.Add("skipped", false, 27)
		percent, ok := totals.Portable()
		if !ok || percent != c.percent || totals.Configured != c.configured || totals.Everywhere() != 27 {
			t.Errorf("%+v: %d %%, %t, %+v", c.configured, percent, ok, totals)
		}
		for format, target := range map[string]string{"": "", "data": " as data", "gateway": " to Kong"} {
			want := fmt.Sprintf("%d%% portable%s", c.percent, target)
			if got := totals.PortableText(format); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		if got := totals.Headline(); got != c.headline {
			t.Errorf("%q, want %q", got, c.headline)
		}
	}
	if _, ok := (contract.LedgerTotals{}).Portable(); ok || (contract.LedgerTotals{}).PortableText("data") != "" {
		t.Error("a ledger without configured items has a percentage")
	}
}
