package pages_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/models"
	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestAudit_page(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		s.Get("/audit?project=&from=2030-01-31").Shows(200, "Audit log").Says("#audit-list", "No entries found")
		s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "shop", "require_keys", "true").
			Shows(200, "shop is ready")
		key := s.Get("/projects/shop/keys").Find("a[href*='/keys/key_']").First().AttrOr("href", "")
		s.Post(key + "/freeze").LeadsTo(key)
		history := s.Get(key).Find("a:contains('Key history')").AttrOr("href", "")
		page := s.Get(history).Shows(200, "Audit log")
		page.Says("#audit-list li", "ana@example.com froze the key …").
			Says("#audit-list li", "for shop").
			Says("#audit-list li table", "stateactivefrozen")
		if n := page.Find("#audit-list ol li").Length(); n != 1 {
			t.Errorf("the history of the key has %d entries", n)
		}
		link := page.Find("#audit-list li a:contains('Open')").AttrOr("href", "")
		if link != key {
			t.Errorf("the entry leads to %q, want %s", link, key)
		}
		page = s.Get(s.Get("/projects/shop/settings").Find("a:contains('Project history')").AttrOr("href", ""))
		page.Shows(200, "Audit log").
			Says("#audit-list", `ana@example.com created the project "shop"`).
			Says("#audit-list", "froze the key")

		s.Get("/audit?action=key.change").
			Says("#audit-list", "froze the key").
			Lacks("#audit-list li:contains('created the project')")
		found := s.Get("/audit?q=SHOP&action=project.create&from=2020-01-31&sort=created&dir=asc").
			Says("#audit-list ol", `created the project "shop"`).
			Says("#sort-created[aria-current]", "ascending").
			Says("#list-found", "1 entry").
			Holds("q", "SHOP")
		var chips []string
		found.Find("#audit-list .chips[aria-label] a").Each(func(_ int, a *goquery.Selection) {
			chips = append(chips, strings.TrimSpace(a.Text())+" "+a.AttrOr("href", ""))
		})
		want := []string{
			"Remove the filter Action: Create a project /audit?dir=asc&from=2020-01-31&q=SHOP&sort=created",
			"Remove the filter From: 2020-01-31 /audit?action=project.create&dir=asc&q=SHOP&sort=created",
		}
		if !slices.Equal(chips, want) {
			t.Errorf("the chips are %q, want %q", chips, want)
		}
		s.Get("/audit?from=tomorrow").Lacks("#audit-list .chips[aria-label]")
		s.Get("/audit?outcome=refused").Says("#audit-list", "No entries found")
		s.Get("/audit?from=tomorrow").Shows(200, "Audit log").Says("#audit-from-error", "Enter a date")
		s.Get("/audit?from=2030-01-02&to=2030-01-01").
			Shows(200, "Audit log").
			Says("#audit-to-error", "before the start date")
		s.Get("/audit?team=team_nobody").Shows(404, "Page not found")
	})
}

func TestAudit_paging(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		team := s.Get("/audit").Value("[name=team]:checked, option[selected][value^=team_]")
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			for range 60 {
				if err := access.Record(tx, access.Principal{}, access.Entry{
					Action: access.KeyCreate,
					Object: "key_1",
					Team:   team,
				}); err != nil {
					return err
				}
			}
			access.RecordRefused(tx, access.Principal{Account: "acc_x"}, access.Entry{
				Action: access.ExportCreate,
				Team:   team,
			}, "not_found")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		first := s.Get("/audit?object=key_1&team=" + team)
		older := first.Find("a:contains('More entries')").AttrOr("href", "")
		if first.Find("#audit-list ol li").Length() != 50 || !strings.Contains(older, "object=key_1") {
			t.Fatalf("the first page has %d entries and leads to %q", first.Find("#audit-list ol li").Length(), older)
		}
		second := s.Get(older)
		if second.Find("#audit-list ol li").Length() != 10 {
			t.Errorf("the second page has %d entries", second.Find("#audit-list ol li").Length())
		}
		second.Lacks("a:contains('More entries')").Says("a:contains('First page')", "First")
		s.Get("/audit").
			Says("#audit-list", "An account outside this team tried to create an export").
			Says(".badge", "refused")
	})
}
