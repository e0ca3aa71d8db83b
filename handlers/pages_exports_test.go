package handlers_test

import (
	"strings"
	"testing"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/models"
	"postern/testkit/state"
)

func TestExportFromChoiceToDownload(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		ask := s.get("/projects/shop/export").is(200, "Export shop")
		if got := ask.value("[name=keys][checked]"); got != "hashes" ||
			ask.Find("[name=consumers][checked]").Length() != 1 {
			t.Errorf("the form offers keys %q first", got)
		}
		s.post("/projects/shop/export", "format", "gateway", "keys", "all").
			is(422, "Export shop").
			says("form", "Use hashes, mint or none.").
			lacks("[name=consumers][checked]")
		s.post("/projects/shop/export", "format", "tar").
			is(422, "Export shop").
			says("[role=alert]", "Use data, or gateway")

		started := s.post("/projects/shop/export", "format", "gateway", "keys", "hashes", "consumers", "true")
		path := started.header.Get("Location")
		started.leadsTo(path)
		waiting := s.get(path).
			is(200, "Export of shop").
			says("#export-status", "Waiting for a worker").
			says("tbody tr:has([aria-current=true])", "Queued")
		if !strings.Contains(waiting.Find("noscript").Text(), `http-equiv="refresh"`) {
			t.Error("a browser without script would not ask again")
		}
		s.get(path+"/download").is(409, "This request could not be answered").says("main", "once it is ready")
		s.get("/projects").says("li", "exporting now")

		id := path[len("/exports/"):]
		if err := s.server.Exports.Build(t.Context(), id, true); err != nil {
			t.Fatal(err)
		}
		ready := s.get(path).
			is(200, "Export of shop").
			says("#export-status", "Ready to download").
			says("#export-verify", "postern verify shop-kong.zip").
			says("#export-status dl", "Exact").
			lacks("noscript")
		zip := s.get(ready.Find("a[download]").AttrOr("href", ""))
		if zip.status != 200 || zip.header.Get("Content-Disposition") != `attachment; filename="shop-kong.zip"` {
			t.Fatalf("download: %d %q", zip.status, zip.header.Get("Content-Disposition"))
		}
		if _, err := bundle.Verify(t.Context(), strings.NewReader(zip.raw), int64(len(zip.raw)), bundle.Against{Targets: targets.All()}); err != nil {
			t.Errorf("verify the zip: %v", err)
		}
		s.get("/projects").says("li", "exported ")
		s.post(path + "/cancel").leadsTo(path)
		s.get(path).says("#export-status", "Ready to download").lacks("[data-flash]")
	})
}

func TestCancelAnExport(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		path := s.post("/projects/shop/export", "format", "data").header.Get("Location")
		cancel := s.get(path).Find("form[action$='/cancel']").AttrOr("action", "")
		s.post(cancel).leadsTo(path)
		s.get(path).
			says("[data-flash]", "cancelled").
			says("#export-status", "The export was cancelled").
			says("#export-status", "Export again")
		s.get("/exports/exp_none").is(404, "There is nothing here")
	})
}

// htmx would put the page that a redirect leads to into the middle of this one.
func TestPollingWithoutASessionLeadsToSignIn(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		got := s.get("/exports/exp_1", "HX-Request", "true", "Referer", s.url+"/exports/exp_1")
		if to := got.header.Get("HX-Redirect"); got.status != 204 || to != "/signin?next=%2Fexports%2Fexp_1" {
			t.Errorf("%d to %q", got.status, to)
		}
	})
}
