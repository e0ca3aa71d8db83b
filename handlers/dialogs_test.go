package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestDialogs_ids opens the dialogs of every page as a browser does, and finds no id in them that the page around them
// has: a label leads to the first field with its id.
func TestDialogs_ids(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	asDialog := append([]string{"HX-Request", "true", "HX-Target", "dialog-body"}, o.Owner...)
	opened := map[string]bool{}
	for _, route := range controlplane.Routes(o.Server) {
		want := guards[route.Method+" "+route.Path]
		if route.Method != http.MethodGet || controlplane.IsAPI(route.Path) || want.operator || want.open {
			continue
		}
		has := o.NewAllObjects(t, want.needs, route.Path)
		page := parsed(t, o.Do(t, http.MethodGet, has.Path(route.Path), "", o.Owner).Raw)
		if page.Find("#dialog").Length() == 0 {
			continue
		}
		for _, link := range page.Find("main a[data-dialog], header a[data-dialog]").EachIter() {
			href := link.AttrOr("href", "")
			shown := o.Do(t, http.MethodGet, href, "", asDialog)
			if shown.Status != http.StatusOK {
				t.Errorf("%s: the dialog %s answers %d", route.Path, href, shown.Status)
				continue
			}
			opened[link.AttrOr("data-dialog", "")] = true
			var twice []string
			for _, part := range parsed(t, shown.Raw).Find("[data-panel] [id]").EachIter() {
				if id := part.AttrOr("id", ""); page.Find("[id='"+id+"']").Length() > 0 {
					twice = append(twice, id)
				}
			}
			if len(twice) > 0 {
				t.Errorf("%s: the dialog %s has ids of the page: %s", route.Path, href, strings.Join(twice, ", "))
			}
		}
	}
	if len(opened) < 10 {
		t.Errorf("opened %d dialogs, want those of every page", len(opened))
	}
}
