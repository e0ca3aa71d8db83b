package pages

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	devtools "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"postern/core/contract"
	"postern/e2e/harness"
	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// exporter is a person at a control plane whose exports are built when the test says so.
type exporter struct {
	*person
	server *controlplane.Browser
}

func newExporter(t *testing.T, db *models.DB) exporter {
	t.Helper()
	server, _ := controlplane.NewOwnerWithShop(t, db)
	t.Cleanup(server.Server.Exports.Followers.End)
	p := exporter{sit(t), server}
	p.Open(server.URL + "/signin")
	p.Types("email", "ana@example.com")
	p.Types("password", controlplane.Password)
	p.Presses("Sign in")
	p.Sees("Projects")
	return p
}

// anotherTab opens a tab of the same browser.
func (p exporter) anotherTab() exporter {
	p.T.Helper()
	tab, leave := chromedp.NewContext(p.Tab)
	p.T.Cleanup(leave)
	return exporter{&person{&harness.Person{T: p.T, Tab: tab}, p.downloads}, p.server}
}

// starts starts an export and returns its id.
func (p exporter) starts() string {
	p.T.Helper()
	p.Open(p.server.URL + "/projects/shop/export")
	p.Presses("Start export")
	p.Sees("Export of shop")
	return strings.TrimPrefix(p.evaluates("location.pathname"), "/exports/")
}

func (p exporter) builds(id string) {
	p.T.Helper()
	if err := p.server.Server.Exports.Build(p.T.Context(), id, true); err != nil {
		p.T.Fatal(err)
	}
}

func (p exporter) seesReady() {
	p.T.Helper()
	p.Reaches(`//h2[normalize-space()="Ready to download"]`)
}

// TestExport_awaitedInTabs starts an export in each of two tabs, looks at the first in a third,
// and reloads one of them: each zip is downloaded once, by the tab that started its export.
func TestExport_awaitedInTabs(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	first := newExporter(t, db)
	saved := first.countsDownloads()
	second, onlooker := first.anotherTab(), first.anotherTab()
	one, other := first.starts(), second.starts()
	onlooker.Open(first.server.URL + "/exports/" + one)
	onlooker.Sees("Export of shop")
	first.reloads()
	first.Sees("Export of shop")

	first.builds(one)
	first.builds(other)
	for _, tab := range []exporter{first, second, onlooker} {
		tab.seesReady()
	}
	want := map[string]int{one: 1, other: 1}
	saved.reach(t, want)
	for _, tab := range []exporter{first, second} {
		tab.reloads()
		tab.seesReady()
	}
	onlooker.Follows("Download zip") // after any that would have come by itself
	want[one] = 2
	saved.reach(t, want)
}

// downloads counts what a browser saves, by the id of its export.
type downloads struct {
	mu   sync.Mutex
	ids  map[string]string // by the download's
	done map[string]int
	more chan struct{} // gets something after each
}

func (p exporter) countsDownloads() *downloads {
	p.T.Helper()
	d := &downloads{ids: map[string]string{}, done: map[string]int{}, more: make(chan struct{}, 100)}
	events := true
	_, err := chromedp.CallBrowser(p.Tab, devtools.SetDownloadBehavior, devtools.SetDownloadBehaviorParams{
		Behavior: devtools.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: p.downloads, EventsEnabled: &events,
	})
	if err == nil {
		err = chromedp.ListenBrowser(p.Tab, d.hear)
	}
	if err != nil {
		p.T.Fatal(err)
	}
	return d
}

func (d *downloads) hear(event any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e := event.(type) {
	case *devtools.EventDownloadWillBegin:
		_, id, _ := strings.Cut(e.URL, "/exports/")
		d.ids[e.GUID] = strings.TrimSuffix(id, "/download")
	case *devtools.EventDownloadProgress:
		if e.State == devtools.DownloadProgressStateCompleted {
			d.done[d.ids[e.GUID]]++
			d.more <- struct{}{}
		}
	}
}

// reach waits until as many downloads are done as wanted, and compares them.
func (d *downloads) reach(t *testing.T, want map[string]int) {
	t.Helper()
	total := func(counts map[string]int) (n int) {
		for _, count := range counts {
			n += count
		}
		return n
	}
	for {
		d.mu.Lock()
		done := maps.Clone(d.done)
		d.mu.Unlock()
		if total(done) >= total(want) {
			if !maps.Equal(done, want) {
				t.Fatalf("downloaded %v, want %v", done, want)
			}
			return
		}
		select {
		case <-d.more:
		case <-time.After(time.Minute):
			t.Fatalf("downloaded %v, want %v", done, want)
		}
	}
}

// TestExport_followedByStream has the page of a running export show progress that it has not
// fetched, and get along without a stream.
func TestExport_followedByStream(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	p := newExporter(t, db)
	id := p.starts()
	progress := func(done int64) {
		t.Helper()
		now := time.Now()
		row := models.Export{
			ID: id, State: contract.ExportBuilding, LeaseID: "try_1", LeaseUntil: &now,
			Part: "tenants/default/keys/keys.jsonl", RowsDone: done, RowsTotal: 9,
		}
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if _, err := tx.LeaseExport(id, row.LeaseID, now, now); err != nil {
				return err
			}
			_, err := tx.ProgressExport(row)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		p.Reaches(fmt.Sprintf(`//*[@id="export-progress"]//span[.="%d of 9 keys"]`, done))
	}
	const fetched = `String(performance.getEntriesByType("resource").filter((r) => r.initiatorType ===
			"xmlhttprequest").length)`
	progress(1)
	progress(2)
	before := p.evaluates(fetched)
	for done := int64(3); done < 7; done++ {
		progress(done)
	}
	if after := p.evaluates(fetched); after != before {
		t.Errorf("the page was fetched %s times, and %s while it was followed", before, after)
	}
	p.server.Server.Exports.Followers.End() // as when there are too many
	progress(7)
	if after := p.evaluates(fetched); after == before {
		t.Error("the page is not fetched without a stream")
	}
	p.builds(id)
	p.seesReady()
}

// TestExport_withoutConsumers turns consumers off, which leaves no choice of keys, with scripts
// and without.
func TestExport_withoutConsumers(t *testing.T) {
	t.Parallel()
	p := newExporter(t, state.OpenSQLite(t))
	withoutConsumers := func() {
		p.Open(p.server.URL + "/projects/shop/export")
		p.Clicks("[name=consumers]")
	}
	withoutConsumers()
	p.Waits("#export-keys-needs")
	if n := p.number("[name=keys]:disabled"); n != 3 {
		t.Errorf("%d choices of keys are disabled, want all 3", n)
	}
	p.Clicks("[name=consumers]")
	p.lacks("[name=keys]:disabled")
	p.Clicks("#export-keys-mint")
	p.Clicks("[name=consumers]")
	p.Presses("Start export")
	p.Reaches(`//dt[.="API keys"]/following-sibling::dd[.="None"]`)

	p.ForbidsScripts()
	withoutConsumers()
	p.Waits("#export-keys-needs")
	p.Presses("Start export")
	p.Reaches(`//dt[.="API keys"]/following-sibling::dd[.="None"]`)
}
