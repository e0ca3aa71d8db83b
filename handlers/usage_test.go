package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postern/handlers"
	"postern/models"
	"postern/service/usage"
	"postern/testkit/state"
)

// observed puts calls into the server's usage: n good ones and one refused.
func observed(t *testing.T, server *handlers.Server, m made, n int) {
	t.Helper()
	project, err := server.Keys.DB.Read(t.Context()).ProjectByName("shop")
	if err != nil {
		t.Fatal(err)
	}
	call := usage.Call{ProjectID: project.ID, EnvironmentID: m.environmentID, RemoteIP: "192.0.2.7", Method: "GET", Path: "/shop/1.0.0/prod/<b>",
		Route: "/*", Status: 401, Code: "invalid_key", Step: "access", BytesOut: 7, Start: time.Now(), Duration: 1500 * time.Microsecond}
	server.Usage.Recorder.Observe(call)
	call.Owner, call.CredentialID, call.Status, call.Code, call.Step, call.BytesIn = "shop", m.keyID, 200, "", "forward", 3
	for range n {
		call.Start = call.Start.Add(time.Microsecond) // or the log has them in any order
		server.Usage.Recorder.Observe(call)
	}
}

func items(a answer) (list []map[string]any) {
	found, _ := a.body["items"].([]any)
	for _, item := range found {
		list = append(list, item.(map[string]any))
	}
	return list
}

func TestUsageIsAnsweredInGroups(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		server := newServer(t, db)
		h := server.Handler()
		m := makeShop(t, h)
		observed(t, server, m, 4)
		get := func(query string) answer { return call(t, h, "GET", "/api/v1/projects/shop/usage"+query, m.token, "") }
		all := get("")
		if all.status != 200 || len(items(all)) != 1 || fmt.Sprint(all.body["total"]) != "map[bytes_in:12 bytes_out:35 calls:5]" ||
			fmt.Sprint(items(all)[0]) != fmt.Sprint(all.body["total"]) {
			t.Errorf("%d %s", all.status, all.raw)
		}
		from, err := time.Parse(time.RFC3339, all.body["from"].(string))
		to, err2 := time.Parse(time.RFC3339, all.body["to"].(string))
		if err != nil || err2 != nil || to.Sub(from) != 24*time.Hour || to.Before(time.Now()) {
			t.Errorf("from %v to %v, %v, %v", from, to, err, err2)
		}
		grouped := get("?group_by=hour&group_by=environment&group_by=owner&group_by=key&group_by=route&group_by=status_class")
		good := items(grouped)[0]
		if len(items(grouped)) != 2 || good["calls"] != 4.0 || good["owner"] != "shop" || good["key"] != m.keyID || good["route"] != "/*" || good["status_class"] != "2xx" ||
			fmt.Sprint(good["environment"]) != "map[id:"+m.environmentID+" name:prod version:1.0.0]" || good["day"] != nil || !strings.HasSuffix(good["hour"].(string), ":00:00Z") {
			t.Errorf("%d %s", grouped.status, grouped.raw)
		}
		if bad := items(grouped)[1]; bad["owner"] != "" || bad["key"] != "" || bad["status_class"] != "4xx" {
			t.Errorf("%v", bad)
		}
		if day := get("?group_by=day"); items(day)[0]["day"] != time.Now().UTC().Format(time.DateOnly) {
			t.Errorf("%s", day.raw)
		}
		if before := get("?from=2020-01-01T00:00:00Z&to=2020-01-31T00:00:00Z&group_by=hour"); before.status != 200 || before.body["items"] == nil || len(items(before)) != 0 {
			t.Errorf("%d %s", before.status, before.raw)
		}
		for query, pointer := range map[string]string{
			"?from=yesterday": "/from", "?group_by=path": "/group_by/0", "?group_by=hour&group_by=day": "/group_by",
			"?from=2020-01-01T00:00:00Z": "/from", "?to=2020-01-01T00:00:00Z&from=2020-01-02T00:00:00Z": "/from",
		} {
			if got := get(query); got.status != 422 || fmt.Sprint(got.pointers()) != "["+pointer+"]" {
				t.Errorf("%s: %d %s", query, got.status, got.raw)
			}
		}
		key := call(t, h, "GET", "/api/v1/keys/"+m.keyID, m.token, "")
		if used, _ := key.body["last_used_at"].(string); used == "" {
			t.Errorf("a key that was used: %s", key.raw)
		}
	})
}

func TestTheLatestRequestsAreListed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		server := newServer(t, db)
		h := server.Handler()
		m := makeShop(t, h)
		get := func(query string) answer {
			return call(t, h, "GET", "/api/v1/projects/shop/requests"+query, m.token, "")
		}
		if none := get(""); none.status != 200 || none.raw == "" || none.body["items"] == nil || len(items(none)) != 0 {
			t.Errorf("%d %s", none.status, none.raw)
		}
		observed(t, server, m, 2)
		first := get("?limit=2")
		cursor, _ := first.body["next_cursor"].(string)
		good := items(first)[0]
		if len(items(first)) != 2 || cursor == "" || good["method"] != "GET" || good["path"] != "/shop/1.0.0/prod/<b>" || good["status"] != 200.0 || good["code"] != nil ||
			good["step"] != "forward" || good["owner"] != "shop" || good["key"] != m.keyID || good["duration_ms"] != 1.5 || good["remote_ip"] != "192.0.2.7" ||
			good["environment"] != "prod" || good["version"] != "1.0.0" || good["bytes_in"] != 3.0 || good["bytes_out"] != 7.0 {
			t.Errorf("%d %s", first.status, first.raw)
		}
		last := get("?cursor=" + cursor)
		if len(items(last)) != 1 || last.body["next_cursor"] != nil || last.body["dropped"] != 0.0 {
			t.Fatalf("%d %s", last.status, last.raw)
		}
		if bad := items(last)[0]; bad["code"] != "invalid_key" || bad["owner"] != nil || bad["key"] != nil || bad["step"] != "access" {
			t.Errorf("%v", bad)
		}
		if good["id"] == "" || !strings.HasSuffix(good["time"].(string), "Z") {
			t.Errorf("%v", good)
		}
	})
}

func TestRequestsAreFollowed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		server := newServer(t, db)
		listener := httptest.NewServer(server.Handler())
		t.Cleanup(listener.Close)
		t.Cleanup(server.Usage.Recorder.EndFollowers)
		m := makeShop(t, listener.Config.Handler)
		url := listener.URL + "/api/v1/projects/shop/requests"

		stream := follow(t, url, m.token, "")
		observed(t, server, m, 1)
		var first requestEvent
		firstID, data := stream.next()
		first.read(t, data)
		_, data = stream.next()
		var second requestEvent
		second.read(t, data)
		if first.ID != firstID || first.Code == nil || *first.Code != "invalid_key" || second.Code != nil || second.Path != "/shop/1.0.0/prod/<b>" {
			t.Errorf("followed %+v and %+v", first, second)
		}
		if id, _ := follow(t, url, m.token, firstID).next(); id != second.ID {
			t.Errorf("resumed after %s with %s, want %s", firstID, id, second.ID)
		}

		for token, want := range map[string]int{"": 401, "canary": 401} {
			got := call(t, listener.Config.Handler, "GET", "/api/v1/projects/shop/requests", token, "", "Accept", "text/event-stream")
			if got.status != want || got.body["code"] == nil {
				t.Errorf("with token %q: %d %s", token, got.status, got.raw)
			}
		}
		if got := call(t, listener.Config.Handler, "GET", "/api/v1/projects/none/requests", m.token, "", "Accept", "text/event-stream"); got.status != 404 {
			t.Errorf("of no project: %d %s", got.status, got.raw)
		}
		document := call(t, listener.Config.Handler, "GET", "/openapi.json", "", "")
		for _, said := range []string{"text/event-stream", "Last-Event-ID", "up to a second later", `"last_used_at"`, `"bytes_out"`, `"remote_ip"`, `"next_cursor"`} {
			if !strings.Contains(document.raw, said) {
				t.Errorf("the OpenAPI document does not say %s", said)
			}
		}
	})
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
