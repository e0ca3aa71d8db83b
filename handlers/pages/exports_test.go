package pages_test

import (
	"strings"
	"testing"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestExport_download(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
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
		Says("form", "Keys can't be exported without their owners.")
	s.Post("/projects/shop/export", "format", "tar").
		Shows(422, "Export shop").
		Says("[role=alert]", "Use data, or gateway")

	started := s.Post("/projects/shop/export", "format", "gateway", "keys", "hashes", "consumers", "true")
	path := started.Header.Get("Location")
	started.LeadsTo(path)
	waiting := s.Get(path).
		Shows(200, "Export of shop").
		Says("#export-status", "Waiting to start").
		Says("tbody tr:has([aria-current=true])", "Queued")
	if !strings.Contains(waiting.Find("noscript").Text(), `http-equiv="refresh"`) {
		t.Error("a browser without script would not ask again")
	}
	s.Get(path+"/download").Shows(409, "This request failed").Says("main", "Only ready exports can be downloaded")
	s.Get("/projects").Says("li", "exporting now")

	id := path[len("/exports/"):]
	if err := s.Server.Exports.Build(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	ready := s.Get(path).
		Shows(200, "Export of shop").
		Says("#export-status", "Ready to download").
		Says("#export-run", "unzip shop-kong.zip -d shop-kong shop-kong/gateway/start.sh").
		Says("#export-verify", "postern verify shop-kong.zip").
		Says("#export-status", "are the same for every project").
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
}

// A browser without scripts sends a choice of keys with every form, and what the form offers
// first contradicts no other choice.
func TestExportForm_withoutConsumers(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	first := s.Get("/projects/shop/export").Value("[name=keys][checked]")
	s.Submit("/projects/shop/export", "format", "data", "keys", first).
		Shows(200, "Export of shop").
		Says("dl", "API keysNone").
		Lacks("#export-run")
	s.Submit("/projects/shop/export", "format", "data", "keys", first, "consumers", "true").
		Shows(200, "Export of shop").
		Says("dl", "API keysHashes")
}

func TestExport_cancel(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	path := s.Post("/projects/shop/export", "format", "data").Header.Get("Location")
	cancel := s.Get(path).Find("form[action$='/cancel']").AttrOr("action", "")
	s.Post(cancel).Shows(200, "Cancel the export of shop").
		Says("[data-undo]", "start a new export").
		Says("a[href='"+path+"']", "Back to the export")
	s.Get(path).Lacks("[data-flash]")
	s.Post(cancel, "confirm", "true").LeadsTo(path)
	s.Get(path).
		Says("[data-flash]", "Canceled").
		Says("#export-status", "The export was canceled").
		Says("#export-status", "Export again")
	s.Get("/exports/exp_none").Shows(404, "Page not found")
}

// The page's script follows a running export by events that have the names of its states.
func TestExportPage_stream(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	t.Cleanup(s.Server.Exports.Followers.End)
	path := s.Post("/projects/shop/export", "format", "data", "consumers", "true").Header.Get("Location")
	status := s.Get(path).Find("#export-status")
	if status.AttrOr("data-stream", "") != path || status.AttrOr("data-state", "") != "queued" {
		t.Fatalf("the page follows %q from %q", status.AttrOr("data-stream", ""), status.AttrOr("data-state", ""))
	}
	stream := openStream(s, path)
	if got := nextOf(stream); got.name != "queued" || !strings.Contains(got.data, "Starts in a moment") {
		t.Errorf("it begins with %+v", got)
	}
	if err := s.Server.Exports.Build(t.Context(), strings.TrimPrefix(path, "/exports/"), true); err != nil {
		t.Fatal(err)
	}
	got := nextOf(stream)
	for got.name == "building" {
		if !strings.Contains(got.data, "<progress") || strings.Contains(got.data, "<html") {
			t.Errorf("a running one sends %s", got.data)
		}
		got = nextOf(stream)
	}
	if got.name != "ready" {
		t.Errorf("it ends with %+v", got)
	}
	s.Get(path).Lacks("#export-status[data-stream]").Says("#export-status", "Ready to download")
	if none := s.Get("/exports/exp_none", "Accept", "text/event-stream"); none.Status != 404 {
		t.Errorf("an export that is not there: %d", none.Status)
	}
}

type streamed struct{ name, data string }

func nextOf(stream controlplane.Events) (out streamed) {
	stream.T.Helper()
	for stream.Scan() {
		field, value, _ := strings.Cut(stream.Text(), ": ")
		switch field {
		case "event":
			out.name = value
		case "data":
			out.data += value
		case "":
			return out
		}
	}
	stream.T.Fatal("the stream has ended")
	return out
}

// htmx would put the page that a redirect leads to into the middle of this one.
func TestExportPage_pollWithoutSession(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	got := s.Get("/exports/exp_1", "HX-Request", "true", "Referer", s.URL+"/exports/exp_1")
	if to := got.Header.Get("HX-Redirect"); got.Status != 204 || to != "/signin?next=%2Fexports%2Fexp_1" {
		t.Errorf("%d to %q", got.Status, to)
	}
}
