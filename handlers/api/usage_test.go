package api_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"postern/handlers"
	"postern/models"
	"postern/service/usage"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// observed puts calls into the server's usage: n good ones and one refused.
func observed(t *testing.T, server *handlers.Server, m controlplane.Shop, n int) {
	t.Helper()
	project, err := server.Keys.DB.Read(t.Context()).ProjectByName("shop")
	if err != nil {
		t.Fatal(err)
	}
	call := usage.Call{
		ProjectID:     project.ID,
		EnvironmentID: m.EnvironmentID,
		RemoteIP:      "192.0.2.7",
		Method:        "GET",
		Path:          "/shop/1.0.0/prod/<b>",
		Route:         "/*",
		Status:        401,
		Code:          "invalid_key",
		Step:          "access",
		BytesOut:      7,
		Start:         time.Now(),
		Duration:      1500 * time.Microsecond,
	}
	server.Usage.Recorder.Observe(call)
	call.Owner, call.CredentialID, call.Status, call.Code = "shop", m.KeyID, 200, ""
	call.Step, call.Forwarded, call.BytesIn, call.FirstByte = "forward", true, 3, time.Millisecond
	for range n {
		call.Start = call.Start.Add(time.Microsecond) // or the log has them in any order
		server.Usage.Recorder.Observe(call)
	}
}

func items(a controlplane.Response) (list []map[string]any) {
	found, _ := a.Body["items"].([]any)
	for _, item := range found {
		list = append(list, item.(map[string]any))
	}
	return list
}

func TestUsage_groups(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		server := controlplane.NewServer(t, db)
		h := server.Handler()
		m := controlplane.CreateShop(t, h)
		observed(t, server, m, 4)
		get := func(query string) controlplane.Response {
			return controlplane.Call(t, h, "GET", "/api/v1/projects/shop/usage"+query, m.Token, "")
		}
		all := get("")
		latency, _ := items(all)[0]["latency"].(map[string]any)
		if total, _ := latency["total"].(map[string]any); total["p95_ms"] == nil || latency["first_byte"] == nil {
			t.Errorf("no latency: %s", all.Raw)
		}
		delete(items(all)[0], "latency")
		if all.Status != 200 || len(items(all)) != 1 ||
			fmt.Sprint(all.Body["total"]) != "map[bytes_in:12 bytes_out:35 calls:5]" ||
			fmt.Sprint(items(all)[0]) != fmt.Sprint(all.Body["total"]) {
			t.Errorf("%d %s", all.Status, all.Raw)
		}
		from, err := time.Parse(time.RFC3339, all.Body["from"].(string))
		to, err2 := time.Parse(time.RFC3339, all.Body["to"].(string))
		if err != nil || err2 != nil || to.Sub(from) != 24*time.Hour || to.Before(time.Now()) {
			t.Errorf("from %v to %v, %v, %v", from, to, err, err2)
		}
		grouped := get(
			"?group_by=hour&group_by=environment&group_by=owner&group_by=key&group_by=route&group_by=status_class",
		)
		good := items(grouped)[0]
		if n := len(items(grouped)); n != 2 {
			t.Errorf("%d groups, want 2: %d %s", n, grouped.Status, grouped.Raw)
		}
		if hour := good["hour"].(string); !strings.HasSuffix(hour, ":00:00Z") {
			t.Errorf("the hour is %s", hour)
		}
		hasFields(t, good, map[string]any{
			"calls":        4.0,
			"owner":        "shop",
			"key":          m.KeyID,
			"route":        "/*",
			"status_class": "2xx",
			"environment":  map[string]any{"id": m.EnvironmentID, "name": "prod", "version": "1.0.0"},
			"day":          nil,
			"latency":      nil,
		})
		tenant := items(get("?group_by=tenant&group_by=route"))[0]
		if named, _ := tenant["tenant"].(map[string]any); named["name"] != "default" || tenant["latency"] != nil {
			t.Errorf("by tenant: %v", tenant)
		}
		if bad := items(grouped)[1]; bad["owner"] != "" || bad["key"] != "" || bad["status_class"] != "4xx" {
			t.Errorf("%v", bad)
		}
		if day := get("?group_by=day"); items(day)[0]["day"] != time.Now().UTC().Format(time.DateOnly) {
			t.Errorf("%s", day.Raw)
		}
		if before := get("?from=2020-01-01T00:00:00Z&to=2020-01-31T00:00:00Z&group_by=hour"); before.Status != 200 ||
			before.Body["items"] == nil ||
			len(items(before)) != 0 {
			t.Errorf("%d %s", before.Status, before.Raw)
		}
		for query, pointer := range map[string]string{
			"?from=yesterday": "/from", "?group_by=path": "/group_by/0", "?group_by=hour&group_by=day": "/group_by",
			"?from=2020-01-01T00:00:00Z": "/from", "?to=2020-01-01T00:00:00Z&from=2020-01-02T00:00:00Z": "/from",
		} {
			if got := get(query); got.Status != 422 || fmt.Sprint(got.Pointers()) != "["+pointer+"]" {
				t.Errorf("%s: %d %s", query, got.Status, got.Raw)
			}
		}
		key := controlplane.Call(t, h, "GET", "/api/v1/keys/"+m.KeyID, m.Token, "")
		if used, _ := key.Body["last_used_at"].(string); used == "" {
			t.Errorf("a key that was used: %s", key.Raw)
		}
	})
}

func TestRequests_latest(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	server := controlplane.NewServer(t, db)
	h := server.Handler()
	m := controlplane.CreateShop(t, h)
	get := func(query string) controlplane.Response {
		return controlplane.Call(t, h, "GET", "/api/v1/projects/shop/requests"+query, m.Token, "")
	}
	if none := get(""); none.Status != 200 || none.Raw == "" || none.Body["items"] == nil || len(items(none)) != 0 {
		t.Errorf("%d %s", none.Status, none.Raw)
	}
	server.Usage.NoGateway = true
	if apart := get(""); apart.Status != 200 || apart.Body["no_gateway"] != true {
		t.Errorf("without a gateway: %d %s", apart.Status, apart.Raw)
	}
	server.Usage.NoGateway = false
	observed(t, server, m, 2)
	refused := items(get("?status=4xx&code=invalid_key"))
	if len(refused) != 1 || refused[0]["status"] != 401.0 {
		t.Errorf("filtered: %v", refused)
	}
	if bad := get("?status=nope"); bad.Status != 422 || fmt.Sprint(bad.Pointers()) != "[/status]" {
		t.Errorf("%d %s", bad.Status, bad.Raw)
	}
	one := get(fmt.Sprint("/", refused[0]["id"]))
	if steps := fmt.Sprint(one.Body["steps"]); one.Status != 200 || one.Body["path"] != "/shop/1.0.0/prod/<b>" ||
		!strings.Contains(steps, "map[outcome:answered step:access]") {
		t.Errorf("%d %s", one.Status, one.Raw)
	}
	if gone := get("/none-1"); gone.Status != 404 || gone.Body["code"] != "request_not_kept" {
		t.Errorf("%d %s", gone.Status, gone.Raw)
	}
	first := get("?limit=2")
	cursor, _ := first.Body["next_cursor"].(string)
	good := items(first)[0]
	if n := len(items(first)); n != 2 || cursor == "" {
		t.Errorf("%d requests and the cursor %q: %d %s", n, cursor, first.Status, first.Raw)
	}
	hasFields(t, good, map[string]any{
		"method":      "GET",
		"path":        "/shop/1.0.0/prod/<b>",
		"status":      200.0,
		"code":        nil,
		"step":        "forward",
		"owner":       "shop",
		"key":         m.KeyID,
		"duration_ms": 1.5,
		"remote_ip":   "192.0.2.7",
		"environment": "prod",
		"version":     "1.0.0",
		"bytes_in":    3.0,
		"bytes_out":   7.0,
	})
	last := get("?cursor=" + cursor)
	if len(items(last)) != 1 || last.Body["next_cursor"] != nil || last.Body["dropped"] != 0.0 {
		t.Fatalf("%d %s", last.Status, last.Raw)
	}
	if bad := items(last)[0]; bad["code"] != "invalid_key" || bad["owner"] != nil || bad["key"] != nil ||
		bad["step"] != "access" {
		t.Errorf("%v", bad)
	}
	if good["id"] == "" || !strings.HasSuffix(good["time"].(string), "Z") {
		t.Errorf("%v", good)
	}
}

func TestRequests_followed(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	server := controlplane.NewServer(t, db)
	listener := httptest.NewServer(server.Handler())
	t.Cleanup(listener.Close)
	t.Cleanup(server.Usage.Recorder.EndFollowers)
	m := controlplane.CreateShop(t, listener.Config.Handler)
	url := listener.URL + "/api/v1/projects/shop/requests"

	stream := controlplane.FollowEvents(t, url, m.Token, "")
	observed(t, server, m, 1)
	var first requestEvent
	firstID, data := stream.Next()
	first.read(t, data)
	_, data = stream.Next()
	var second requestEvent
	second.read(t, data)
	if first.ID != firstID || first.Code == nil || *first.Code != "invalid_key" {
		t.Errorf("the first event is %+v, want %s refused with invalid_key", first, firstID)
	}
	if second.Code != nil || second.Path != "/shop/1.0.0/prod/<b>" {
		t.Errorf("the second event is %+v", second)
	}
	if id, _ := controlplane.FollowEvents(t, url, m.Token, firstID).Next(); id != second.ID {
		t.Errorf("resumed after %s with %s, want %s", firstID, id, second.ID)
	}

	for token, want := range map[string]int{"": 401, "canary": 401} {
		got := controlplane.Call(
			t, listener.Config.Handler, "GET", "/api/v1/projects/shop/requests", token, "", "Accept",
			"text/event-stream",
		)
		if got.Status != want || got.Body["code"] == nil {
			t.Errorf("with token %q: %d %s", token, got.Status, got.Raw)
		}
	}
	missing := controlplane.Call(t, listener.Config.Handler, "GET", "/api/v1/projects/none/requests", m.Token, "",
		"Accept", "text/event-stream")
	if missing.Status != 404 {
		t.Errorf("of no project: %d %s", missing.Status, missing.Raw)
	}
	document := controlplane.Call(t, listener.Config.Handler, "GET", "/openapi.json", "", "")
	for _, text := range []string{
		"text/event-stream", "Last-Event-ID", "within a second",
		`"last_used_at"`, `"bytes_out"`, `"remote_ip"`, `"next_cursor"`,
	} {
		if !strings.Contains(document.Raw, text) {
			t.Errorf("the OpenAPI document lacks %s", text)
		}
	}
}

type requestEvent struct {
	ID   string
	Path string
	Code *string
}

func (e *requestEvent) read(t *testing.T, data string) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), e); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
}

// hasFields compares the fields that are in want with those of an item.
func hasFields(t *testing.T, item, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if !reflect.DeepEqual(item[name], value) {
			t.Errorf("%s is %v, want %v", name, item[name], value)
		}
	}
}
