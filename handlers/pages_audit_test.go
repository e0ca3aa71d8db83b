package handlers_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/testkit/state"
)

func TestTheAuditPageTellsWhoDidWhat(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		s.get("/audit?project=&from=2030-01-31").is(200, "Audit log").says("#audit-list", "Nothing fits")
		s.makes("/projects/new", "target", "http://127.0.0.1:9", "name", "shop", "require_keys", "true").
			is(200, "shop is up")
		key := s.get("/projects/shop").Find("a[href*='/keys/key_']").First().AttrOr("href", "")
		s.post(key + "/freeze").leadsTo(key)
		history := s.get(key).Find("a:contains('History of this key')").AttrOr("href", "")
		page := s.get(history).is(200, "Audit log")
		page.says("#audit-list li", "ana@example.com froze key …").
			says("#audit-list li", "of shop").
			says("#audit-list li table", "stateactivefrozen")
		if n := page.Find("#audit-list li").Length(); n != 1 {
			t.Errorf("the history of the key has %d entries", n)
		}
		link := page.Find("#audit-list li a:contains('Go there')").AttrOr("href", "")
		if link != key {
			t.Errorf("the entry leads to %q, want %s", link, key)
		}
		page = s.get(s.get("/projects/shop").Find("a:contains('History of this project')").AttrOr("href", ""))
		page.is(200, "Audit log").
			says("#audit-list", "ana@example.com created project shop").
			says("#audit-list", "froze key")

		s.get("/audit?action=key.change").
			says("#audit-list", "froze key").
			lacks("#audit-list li:contains('created project')")
		s.get("/audit?outcome=refused").says("#audit-list", "Nothing fits")
		s.get("/audit?from=tomorrow").is(200, "Audit log").says("#audit-from-error", "Give a day")
		s.get("/audit?from=2030-01-02&to=2030-01-01").
			is(200, "Audit log").
			says("#audit-to-error", "before the first day")
		s.get("/audit?team=team_nobody").is(404, "There is nothing here")
	})
}

func TestTheAuditPageHasPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		team := s.get("/audit").value("[name=team]:checked, option[selected][value^=team_]")
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
		first := s.get("/audit?object=key_1&team=" + team)
		older := first.Find("a:contains('Older entries')").AttrOr("href", "")
		if first.Find("#audit-list li").Length() != 50 || !strings.Contains(older, "object=key_1") {
			t.Fatalf("the first page has %d entries and leads to %q", first.Find("#audit-list li").Length(), older)
		}
		second := s.get(older)
		if second.Find("#audit-list li").Length() != 10 {
			t.Errorf("the second page has %d entries", second.Find("#audit-list li").Length())
		}
		second.lacks("a:contains('Older entries')").says("a:contains('Newest entries')", "Newest")
		s.get("/audit").
			says("#audit-list", "An account outside of this team tried to create an export").
			says(".badge", "refused")
	})
}
