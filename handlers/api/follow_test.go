package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestExport_followed(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	server := controlplane.NewServer(t, db)
	listener := httptest.NewServer(server.Handler())
	t.Cleanup(listener.Close)
	shop := controlplane.CreateShop(t, listener.Config.Handler)
	queued := controlplane.Call(t, listener.Config.Handler, "POST", "/api/v1/projects/shop/exports", shop.Token,
		`{"format":"data"}`)
	id, _ := queued.Body["id"].(string)
	stream := controlplane.FollowEvents(t, listener.URL+"/api/v1/exports/"+id+"/events", shop.Token, "")
	if got := next(t, stream); got.State != "queued" || got.ID != id {
		t.Errorf("it begins with %+v", got)
	}
	if err := server.Exports.Build(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	got := next(t, stream)
	for got.State == "building" {
		got = next(t, stream)
	}
	if got.State != "ready" || got.DownloadURL == "" || got.Progress.RowsTotal == 0 {
		t.Errorf("it ends with %+v", got)
	}
	for stream.Scan() {
		if line := stream.Text(); line != "" {
			t.Errorf("after the end there is %q", line)
		}
	}
}

type followed struct {
	ID          string
	State       string
	DownloadURL string `json:"download_url"`
	Progress    struct {
		RowsTotal int64 `json:"rows_total"`
	}
}

func next(t *testing.T, stream controlplane.Events) (out followed) {
	t.Helper()
	_, data := stream.Next()
	if err := json.Unmarshal([]byte(data), &out); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return out
}
