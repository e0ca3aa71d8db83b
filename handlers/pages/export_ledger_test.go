package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// finishedExport exports the shop and returns the path of the export.
func finishedExport(t *testing.T, s *controlplane.Browser) string {
	t.Helper()
	path := s.Post("/projects/shop/export", "format", "gateway", "consumers", "true").Header.Get("Location")
	if err := s.Server.Exports.Build(t.Context(), strings.TrimPrefix(path, "/exports/"), true); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExportLedger(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	path := finishedExport(t, s)
	s.Get(path).Says("#export-status a[href='"+path+"/ledger']", "All items and to-dos")
	page := s.Get(path+"/ledger").
		Shows(200, "Ledger for shop").
		Says("main", "Kong gateway, exported ").
		Says("main", " by ana@example.com").
		Says("#ledger-items [aria-current=page]", "All ").
		Says("main", "% portable to Kong").
		Says("#ledger-everywhere [data-code='kong.usage_analytics.left_out']", "Usage analytics").
		Says("#ledger-everywhere", "Skipped: not moved").
		Says("#ledger-everywhere", "Trailers").
		Says("#ledger-exact", "API keys").
		Lacks("#ledger-skipped").
		Lacks("#ledger-everywhere[open]").
		Says("a[download]", "Download full ledger")
	full := s.Get(page.Find("a[download]").AttrOr("href", ""))
	if full.Status != 200 || full.Header.Get("Content-Disposition") != `attachment; filename="shop-ledger.json"` ||
		!strings.Contains(full.Raw, `"format": "postern-ledger/1"`) {
		t.Errorf("the full ledger: %d %q %.80s", full.Status, full.Header.Get("Content-Disposition"), full.Raw)
	}
	seen := map[string]bool{}
	page.Find("[data-checklist] input").Each(func(_ int, box *goquery.Selection) {
		if id := box.AttrOr("value", ""); seen[id] {
			t.Errorf("%s is there twice", id)
		} else {
			seen[id] = true
		}
	})
	s.Get(path+"/ledger?code=kong.usage_analytics.left_out").
		Shows(200, "Usage analytics").
		Says("main", "To do: Measure usage on the new gateway").
		Lacks("ol.card")
	s.Get(path+"/ledger?status=skipped").
		Says("#ledger-items [aria-current=page]", "Skipped 0").
		Says("#ledger-items", "No items found")
	s.Get(path+"/ledger?status=everywhere").
		Says("#ledger-items [aria-current=page]", "The same for every project ").
		Says("#ledger-everywhere[open]", "Usage analytics").
		Lacks("#ledger-exact")
	s.Get(path+"/ledger?area=keys").
		Says("option[selected]", "API keys").
		Says("#ledger-exact[open] [data-code='kong.key.hash']", "API keys").
		Says("#ledger-everywhere[open] [data-code='kong.key_type.built_in']", "Built-in key types")
	s.Get(path+"/ledger?area=keys&status=lossy").Says("#ledger-items", "No items found")
	s.Get(path+"/ledger?status=fine").Shows(200, "Ledger for shop").Says("#ledger-items", "No items found")
}

// The page of a line names more items than the list does, and none after the zip has expired.
func TestExportLedger_names(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		for i := range 30 {
			s.Post("/projects/shop/keys", "owner", fmt.Sprintf("partner-%d", i))
		}
		path := finishedExport(t, s)
		more := s.Get(path + "/ledger").Find("#ledger-exact a[href*='code=']").First()
		if !strings.HasSuffix(strings.TrimSpace(more.Text()), " more") {
			t.Fatalf("more than 20 keys, and the page says %q", more.Text())
		}
		address := more.AttrOr("href", "")
		names := s.Get(address).Shows(200, "API keys").Find("ol.card li").Length()
		if names < 30 {
			t.Errorf("%d keys are named, want all", names)
		}
		s.Get(path + "/ledger?code=kong.none.none").LeadsTo(path + "/ledger")
		expire(t, db)
		s.Get(address).Says("main", "The zip has expired").Lacks("ol.card li")
		text := s.Get(path + "/ledger?code=kong.usage_analytics.left_out").Find("main").Text()
		if strings.Contains(text, "expired") {
			t.Errorf("a line without people says %q", text)
		}
		s.Get(path+"/ledger").
			Says("#ledger-items", "The zip has expired").
			Lacks("a[download]").
			Lacks("#ledger-exact a[href*='code=']")
	})
}

func TestExportLedger_none(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		queued := s.Post("/projects/shop/export", "format", "data").Header.Get("Location")
		s.Get(queued + "/ledger").LeadsTo(queued)
		s.Get("/exports/exp_none/ledger").Shows(404, "Page not found")
	})
}

func expire(t *testing.T, db *models.DB) {
	t.Helper()
	_, err := db.SQL().ExecContext(t.Context(), "UPDATE exports SET expires_at = '2001-01-01 00:00:00+00:00'")
	if err != nil {
		t.Fatal(err)
	}
}
