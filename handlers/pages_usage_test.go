package handlers_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/service/usage"
	"postern/testkit/state"
)

// called puts calls of the site's project shop into usage: n with its key, and
// one that was refused.
func callsOn(s *site, n int) (keyID string) {
	s.t.Helper()
	tx := s.server.Keys.DB.Read(s.t.Context())
	project, err := tx.ProjectByName("shop")
	if err != nil {
		s.t.Fatal(err)
	}
	environments, err := tx.EnvironmentsOf(project.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	keys, err := tx.KeysListed(project, models.KeyFilter{}, "", 1)
	if err != nil {
		s.t.Fatal(err)
	}
	call := usage.Call{ProjectID: project.ID, EnvironmentID: environments[0].ID, RemoteIP: "192.0.2.7", Method: "GET", Path: "/shop/1.0.0/prod/<b>",
		Route: "/*", Status: 401, Code: "invalid_key", Step: "access", Start: time.Now(), Duration: time.Millisecond}
	s.server.Usage.Recorder.Observe(call)
	call.Owner, call.CredentialID, call.Status, call.Code, call.Step, call.BytesOut = keys[0].Owner, keys[0].ID, 200, "", "forward", 1000
	for i := range n {
		call.Path, call.Start = fmt.Sprintf("/shop/1.0.0/prod/orders/%d", i), call.Start.Add(time.Microsecond) // or the log has them in any order
		s.server.Usage.Recorder.Observe(call)
	}
	return keys[0].ID
}

func TestTheUsagePageShowsWhoCalls(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		s.get("/projects/shop/usage").is(200, "shop").says("main", "No calls in this time").lacks("rect[class^='bar-'][x]")
		id := callsOn(s, 1233)
		configure := s.get("/projects/shop")
		page := s.get(configure.Find("nav.tabs a:contains(Usage)").AttrOr("href", "")).is(200, "shop").says("nav.tabs [aria-current]", "Usage").
			says("#calls-title", "Calls by the hour").says("dl", "1,234").says("dl", "1.2 MB")
		if bars, rows := page.Find("rect[class^='bar-'][x]").Length(), page.Find("details tbody tr").Length(); bars != 2 || rows != 24 {
			t.Errorf("%d parts of bars and %d hours", bars, rows)
		}
		if page.Find("details tbody tr:has(td:nth-child(2):contains('1233')):has(td:nth-child(3):contains('1'))").Length() != 1 {
			t.Errorf("no hour has all the calls: %s", clean(page.Find("details tbody").Text()))
		}
		if href := page.Find("table a:contains(bootstrap)").AttrOr("href", ""); href != "/projects/shop/keys/"+id {
			t.Errorf("the key's row leads to %q", href)
		}
		page.says("section[aria-labelledby=by-title] tbody", id) // an owner may have several
		s.get("/projects/shop").says("#keys thead", "Last used").says("#keys tbody td:nth-last-child(2)", time.Now().UTC().Format("2 Jan 2006"))
		s.get("/projects/shop/keys/"+id).says("dl", "Last used").says("dl", time.Now().UTC().Format("2 Jan 2006, "))
		for by, want := range map[string]string{
			"owner":       "none",
			"environment": "1.0.0 prod",
			"status":      "4xx",
			"route":       "/*",
			"nonsense":    "without a valid key",
		} {
			s.get("/projects/shop/usage?period=30d&by="+by).is(200, "shop").says("#calls-title", "Calls by the day").says("section[aria-labelledby=by-title] tbody", want)
		}
		s.get("/projects/none/usage").is(404, "There is nothing here")
	})
}

func TestTheRequestsPageListsAndFollows(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, key := withShop(t, db)
		t.Cleanup(s.server.Usage.Recorder.EndFollowers)
		empty := s.get("/projects/shop/requests").is(200, "shop").says("tbody", "No calls yet")
		if from := empty.Find("tbody").AttrOr("data-live-from", ""); from != "none" {
			t.Errorf("an empty list is followed from %q", from)
		}
		callsOn(s, 50)
		page := s.get("/projects/shop/requests").is(200, "shop").says("nav.tabs [aria-current]", "Requests").
			says("tbody tr:first-child", "GET /orders/49").says("tbody tr:first-child", "200").says("tbody tr:first-child", "192.0.2.7").lacks("tbody b")
		if rows := page.Find("tbody tr").Length(); rows != 50 {
			t.Errorf("%d rows", rows)
		}
		if strings.Contains(page.raw, key) {
			t.Error("the key is on the page")
		}
		older := s.get(page.Find("a:contains(Older)").AttrOr("href", "")).
			says("tbody", "GET /<b>").
			says("tbody", "invalid_key (access)").
			says("tbody", "none")
		older.lacks("tbody[data-live]").lacks("a:contains(Older)")

		rows := page.Find("tbody")
		stream := openStream(s, rows.AttrOr("data-live", "")+"?after="+rows.AttrOr("data-live-from", ""))
		callsOn(s, 1)
		id, data := stream.next()
		for _, text := range []string{"<tr>", "GET /&lt;b&gt;", "none"} {
			if id == "" || !strings.Contains(data, text) {
				t.Errorf("followed %s %s, want %q in it", id, data, text)
			}
		}
		if _, data := stream.next(); !strings.Contains(data, "GET /orders/0") {
			t.Errorf("followed %s", data)
		}
	})
}

// stream reads events as a page's script does.
func openStream(s *site, path string) events {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s", path, response.Status)
	}
	e := events{bufio.NewScanner(response.Body), s.t}
	e.next() // says how soon to come back
	return e
}
