package pages_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/service/usage"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// called puts calls of the site's project shop into usage: n with its key, and
// one that was refused.
func callsOn(s *controlplane.Browser, n int) (keyID string) {
	s.T.Helper()
	tx := s.Server.Keys.DB.Read(s.T.Context())
	project, err := tx.ProjectByName("shop")
	if err != nil {
		s.T.Fatal(err)
	}
	environments, err := tx.EnvironmentsOf(project.ID)
	if err != nil {
		s.T.Fatal(err)
	}
	keys, err := tx.KeysListed(project, models.KeyFilter{}, models.Page{Limit: 1})
	if err != nil {
		s.T.Fatal(err)
	}
	call := usage.Call{
		ProjectID:     project.ID,
		EnvironmentID: environments[0].ID,
		RemoteIP:      "192.0.2.7",
		Method:        "GET",
		Path:          "/shop/1.0.0/prod/<b>",
		Route:         "/*",
		Status:        401,
		Code:          "invalid_key",
		Step:          "access",
		Start:         time.Now(),
		Duration:      time.Millisecond,
	}
	s.Server.Usage.Recorder.Observe(call)
	call.Owner, call.CredentialID = keys.Items[0].Owner, keys.Items[0].ID
	call.Status, call.Code, call.Step, call.Forwarded, call.BytesOut = 200, "", "forward", true, 1000
	for i := range n {
		call.Path = fmt.Sprintf("/shop/1.0.0/prod/orders/%d", i)
		call.Start = call.Start.Add(time.Microsecond) // the log orders calls by their start
		s.Server.Usage.Recorder.Observe(call)
	}
	return keys.Items[0].ID
}

func TestUsage_callers(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	s.Get("/projects/shop/usage").
		Shows(200, "Usage").
		Says("main", "No calls in this period").
		Lacks("rect[class^='bar-'][x]")
	id := callsOn(s, 1233)
	configure := s.Get("/projects/shop")
	page := s.Get(configure.Find("nav[aria-label=Project] a:contains(Usage)").AttrOr("href", "")).
		Shows(200, "Usage").
		Says("nav[aria-label=Project] [aria-current]", "Usage").
		Says("#calls-title", "Calls per hour").
		Says("dl", "1,234").
		Says("dl", "1.2 MB").
		Says("dl", "Latency p95").
		Says("rect.chart-place:last-of-type title", "1,234 calls, 1 rejected p50")
	if bars := page.Find("rect[class^='bar-'][x]").Length(); bars != 2 {
		t.Errorf("%d parts of bars, want 2", bars)
	}
	if rows := page.Find("details tbody tr").Length(); rows != 24 {
		t.Errorf("%d hours, want 24", rows)
	}
	busy := page.Find("details tbody tr:has(td:nth-child(2):contains('1,233')):has(td:nth-child(3):contains('1'))")
	if busy.Length() != 1 {
		t.Errorf("no hour has all the calls: %s", controlplane.Clean(page.Find("details tbody").Text()))
	}
	if href := page.Find("table a:contains(bootstrap)").AttrOr("href", ""); href != "/projects/shop/keys/"+id {
		t.Errorf("the key's row leads to %q", href)
	}
	page.Says("section[aria-labelledby=by-title] tbody", id) // an owner may have several
	today := "time[title^='" + time.Now().UTC().Format("2 Jan 2006") + "']"
	if s.Get("/projects/shop/keys").Find("#keys tbody td:nth-last-child(2) "+today).Length() != 1 {
		t.Error("the list does not say when the key was used last")
	}
	if s.Get("/projects/shop/keys/"+id).Find("dt:contains('Last used') + dd "+today).Length() != 1 {
		t.Error("the key's page does not say when it was used last")
	}
	for by, want := range map[string]string{
		"owner":       "none",
		"environment": "1.0.0 prod",
		"status":      "4xx",
		"route":       "/*",
		"tenant":      "default",
		"nonsense":    "without a valid key",
	} {
		s.Get("/projects/shop/usage?period=30d&by="+by).
			Shows(200, "Usage").
			Says("#calls-title", "Calls per day").
			Says("section[aria-labelledby=by-title] tbody", want)
	}
	for period, steps := range map[string]int{"1h": 60, "24h": 24, "7d": 168, "30d": 30} {
		page := s.Get("/projects/shop/usage?period="+period).Says("dl", "1,234").Says("nav [aria-current=true]", "")
		if rows := page.Find("details tbody tr").Length(); rows != steps {
			t.Errorf("%s: %d rows, want %d", period, rows, steps)
		}
	}
	s.Get("/projects").Says("main dl", "1,234")
	s.Get("/projects/none/usage").Shows(404, "Page not found")
}

func TestUsage_csv(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	id := callsOn(s, 3)
	formula := usage.Call{Owner: "=1+1", Status: 200, Start: time.Now()}
	project, err := s.Server.Keys.DB.Read(t.Context()).ProjectByName("shop")
	if err != nil {
		t.Fatal(err)
	}
	formula.ProjectID = project.ID
	s.Server.Usage.Recorder.Observe(formula)
	file := s.Get("/projects/shop/usage.csv?by=key&period=7d")
	if file.Header.Get("Content-Disposition") != `attachment; filename="shop-usage-7d-key.csv"` {
		t.Errorf("%d %v", file.Status, file.Header)
	}
	lines := strings.Split(strings.TrimSpace(file.Raw), "\n")
	if lines[0] != "from,to,key,owner,calls,bytes_in,bytes_out" || len(lines) != 4 {
		t.Fatalf("%s", file.Raw)
	}
	if !strings.HasSuffix(lines[1], ","+id+",bootstrap,3,0,3000") {
		t.Errorf("the key's row is %s", lines[1])
	}
	if !strings.Contains(file.Raw, ",'=1+1,") {
		t.Errorf("a spreadsheet would calculate an owner:\n%s", file.Raw)
	}
	routes := s.Get("/projects/shop/usage.csv?by=route")
	if !strings.Contains(routes.Raw, ",first_byte_p95_ms\n") || !strings.Contains(routes.Raw, ",/*,4,0,3000,") {
		t.Errorf("by route:\n%s", routes.Raw)
	}
}

func TestRequests_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, key := controlplane.NewOwnerWithShop(t, db)
	t.Cleanup(s.Server.Usage.Recorder.EndFollowers)
	s.Server.Usage.NoGateway = true
	apart := s.Get("/projects/shop/requests").Shows(200, "Requests").
		Says(".notice", "This server doesn't run a gateway").
		Says("tbody", "Each gateway logs its own requests")
	if apart.Find("[data-live]").Length() > 0 {
		t.Error("the page waits for calls that never come")
	}
	s.Server.Usage.NoGateway = false
	empty := s.Get("/projects/shop/requests").Shows(200, "Requests").
		Says("tbody", "No requests since this server started")
	if from := empty.Find("tbody").AttrOr("data-live-from", ""); from != "none" {
		t.Errorf("an empty list is followed from %q", from)
	}
	callsOn(s, 50)
	page := s.Get("/projects/shop/requests").
		Shows(200, "Requests").
		Says("nav[aria-label=Project] [aria-current]", "Requests").
		Says("tbody tr:first-child", "GET /orders/49").
		Says("tbody tr:first-child", "200").
		Says("tbody tr:first-child", "192.0.2.7").
		Lacks("tbody b")
	if rows := page.Find("tbody tr").Length(); rows != 50 {
		t.Errorf("%d rows", rows)
	}
	refused := s.Get("/projects/shop/requests?status=4xx&code=invalid_key").
		Says("tbody", "<b>").
		Lacks("tbody tr:nth-child(2)")
	live := refused.Find("tbody").AttrOr("data-live", "")
	if live != "/projects/shop/requests?code=invalid_key&status=4xx" {
		t.Errorf("a filtered list is followed at %q", live)
	}
	refused.Says("#filter-status option[selected]", "4xx")
	s.Get("/projects/shop/requests?path=nothing").Says("tbody", "No requests match these filters")
	s.Get("/projects/shop/requests?status=x").Shows(422, "Requests").Says("form", "Use a status such as 404")
	s.Get(refused.Find("tbody th a").First().AttrOr("href", "")).
		Shows(200, "Request").
		Says("[data-panel] ol li:nth-child(2)", "Access 401 invalid_key").
		Says("[data-panel] ol li:last-child", "not reached").
		Lacks("#main b")
	s.Get(page.Find("tbody tr:first-child th a").First().AttrOr("href", "")).
		Says("[data-panel] ol li:last-child", "the upstream responded").
		Says("dl", "X-Credential-Identifier").
		Says("#request-curl", "/shop/1.0.0/prod/orders/49'")
	s.Get("/projects/shop/requests/none-1").Shows(404, "Page not found")
	if strings.Contains(page.Raw, key) {
		t.Error("the key is on the page")
	}
	older := s.Get(page.Find("a:contains(Older)").AttrOr("href", "")).
		Says("tbody", "GET /<b>").
		Says("tbody", "invalid_key (access)").
		Says("tbody", "none")
	older.Lacks("tbody[data-live]").Lacks("a:contains(Older)")

	rows := page.Find("tbody")
	stream := openStream(s, rows.AttrOr("data-live", "")+"?after="+rows.AttrOr("data-live-from", ""))
	callsOn(s, 1)
	id, data := stream.Next()
	for _, text := range []string{"<tr data-arrival=", "GET /&lt;b&gt;", "none"} {
		if id == "" || !strings.Contains(data, text) {
			t.Errorf("followed %s %s, want %q in it", id, data, text)
		}
	}
	if _, data := stream.Next(); !strings.Contains(data, "GET /orders/0") {
		t.Errorf("followed %s", data)
	}
}

// stream reads events as a page's script does.
func openStream(s *controlplane.Browser, path string) controlplane.Events {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := s.Client.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		s.T.Fatalf("%s: %s", path, response.Status)
	}
	e := controlplane.Events{Scanner: bufio.NewScanner(response.Body), T: s.T}
	e.Next() // says how soon to come back
	return e
}
