package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestExportPreview(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	const path = "/projects/shop/export/preview"
	s.Get("/projects/shop/export").Says("a[href='"+path+"']", "Preview this export")
	s.Get(path).Shows(200, "Export preview").
		Says("main", "% portable to Kong").
		Says("#ledger-everywhere", "Usage analytics").
		Says("#ledger-everywhere [data-code='kong.usage_analytics.left_out']", "Usage analytics").
		Says("#ledger-everywhere", "To do: Measure usage on the new gateway").
		Says("#ledger-exact", "API key").
		Says("a[aria-current=page]", "Kong gateway")
	s.Get(path+"?format=data").Says("a[aria-current=page]", "Data only").
		Says("main", "% portable as data").
		Says("#ledger-exact [data-code^='data.key.']", "API keys")
}
