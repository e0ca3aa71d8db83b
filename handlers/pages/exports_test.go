package pages_test

import (
	"strings"
	"testing"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestExportFromChoiceToDownload(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		ask := s.Get("/projects/shop/export").Shows(200, "Export shop")
		if ask.Find("[name=keys][checked]").Length() != 1 || ask.Value("[name=keys][checked]") != "" ||
			ask.Find("[name=consumers][checked]").Length() != 1 {
			t.Error("the form does not offer the default keys and consumers first")
		}
		s.Post("/projects/shop/export", "format", "gateway", "keys", "all").
			Shows(422, "Export shop").
			Says("form", "Use hashes, mint or none.").
			Lacks("[name=consumers][checked]")
		s.Post("/projects/shop/export", "format", "data", "keys", "hashes").
			Shows(422, "Export shop").
			Says("form", "Keys need the consumers that own them. Use none")
		s.Post("/projects/shop/export", "format", "tar").
			Shows(422, "Export shop").
			Says("[role=alert]", "Use data, or gateway")

		started := s.Post("/projects/shop/export", "format", "gateway", "keys", "hashes", "consumers", "true")
		path := started.Header.Get("Location")
		started.LeadsTo(path)
		waiting := s.Get(path).
			Shows(200, "Export of shop").
			Says("#export-status", "Waiting for a worker").
			Says("tbody tr:has([aria-current=true])", "Queued")
		if !strings.Contains(waiting.Find("noscript").Text(), `http-equiv="refresh"`) {
			t.Error("a browser without script would not ask again")
		}
		s.Get(path+"/download").Shows(409, "This request could not be answered").Says("main", "once it is ready")
		s.Get("/projects").Says("li", "exporting now")

		id := path[len("/exports/"):]
		if err := s.Server.Exports.Build(t.Context(), id, true); err != nil {
			t.Fatal(err)
		}
		ready := s.Get(path).
			Shows(200, "Export of shop").
			Says("#export-status", "Ready to download").
			Says("#export-verify", "postern verify shop-kong.zip").
			Says("#export-status dl", "Exact").
			Lacks("noscript")
		zip := s.Get(ready.Find("a[download]").AttrOr("href", ""))
		if zip.Status != 200 || zip.Header.Get("Content-Disposition") != `attachment; filename="shop-kong.zip"` {
			t.Fatalf("download: %d %q", zip.Status, zip.Header.Get("Content-Disposition"))
		}
		against := bundle.Against{Targets: targets.All()}
		if _, err := bundle.Verify(t.Context(), strings.NewReader(zip.Raw), int64(len(zip.Raw)), against); err != nil {
			t.Errorf("verify the zip: %v", err)
		}
		s.Get("/projects").Says("li", "exported ")
		s.Post(path + "/cancel").LeadsTo(path)
		s.Get(path).Says("#export-status", "Ready to download").Lacks("[data-flash]")
	})
}

// A browser without scripts sends a choice of keys with every form, and what the form offers
// first contradicts no other choice.
func TestExportFormWithoutConsumersHasNoKeys(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		first := s.Get("/projects/shop/export").Value("[name=keys][checked]")
		s.Submit("/projects/shop/export", "format", "data", "keys", first).
			Shows(200, "Export of shop").
			Says("dl", "API keysNone")
		s.Submit("/projects/shop/export", "format", "data", "keys", first, "consumers", "true").
			Shows(200, "Export of shop").
			Says("dl", "API keysHashes")
	})
}

func TestCancelAnExport(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		path := s.Post("/projects/shop/export", "format", "data").Header.Get("Location")
		cancel := s.Get(path).Find("form[action$='/cancel']").AttrOr("action", "")
		s.Post(cancel).LeadsTo(path)
		s.Get(path).
			Says("[data-flash]", "cancelled").
			Says("#export-status", "The export was cancelled").
			Says("#export-status", "Export again")
		s.Get("/exports/exp_none").Shows(404, "There is nothing here")
	})
}

// htmx would put the page that a redirect leads to into the middle of this one.
func TestPollingWithoutASessionLeadsToSignIn(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewBrowser(t, db)
		got := s.Get("/exports/exp_1", "HX-Request", "true", "Referer", s.URL+"/exports/exp_1")
		if to := got.Header.Get("HX-Redirect"); got.Status != 204 || to != "/signin?next=%2Fexports%2Fexp_1" {
			t.Errorf("%d to %q", got.Status, to)
		}
	})
}
