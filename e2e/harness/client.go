package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/client"
	"postern/core/contract"
)

// Connect returns a client that sends the token, "" for none.
func Connect(t *testing.T, server, token string) *client.Client {
	t.Helper()
	api, err := client.New(server, token)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// CreateProxy sends the call of the README, as curl does.
func CreateProxy(t *testing.T, server, target string) (made contract.Proxy) {
	t.Helper()
	body := `{"target":"` + target + `","name":"shop","requests_auth":{"mode":"authenticate"}}`
	answer := Send(t, http.MethodPost, server+"/proxy", "application/json", body)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s, want 201", answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil {
		t.Fatal(err)
	}
	return made
}

// An export that has not changed for stalledAfter is stuck. On PostgreSQL nothing changes
// until the killed process counts as dead, half a minute after its last heartbeat.
// finishedWithin bounds the whole wait, for an export that starts over again and again.
const (
	stalledAfter   = 2 * time.Minute
	finishedWithin = 10 * time.Minute
)

// WaitForExport returns an export when it is ready. The test fails when the export's state
// and progress stay the same for stalledAfter.
func WaitForExport(t *testing.T, api *client.Client, id string) contract.Export {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), finishedWithin)
	defer stop()
	ctx, stall := context.WithCancelCause(ctx)
	defer stall(nil)
	var last contract.Export
	stalled := time.AfterFunc(stalledAfter, func() {
		stall(fmt.Errorf("the export has not changed for %s", stalledAfter))
	})
	defer stalled.Stop()
	ready, err := api.WaitExport(ctx, id, func(now contract.Export) {
		if now.State != last.State || now.Progress != last.Progress {
			stalled.Reset(stalledAfter)
		}
		last = now
	})
	if err != nil {
		t.Fatalf("wait for export %s, last seen %s with %+v: %v", id, last.State, last.Progress, err)
	}
	return ready
}

// Downloaded returns the zip of an export, whose size and sum are checked on the way, and verifies it.
func Downloaded(t *testing.T, api *client.Client, ready contract.Export) []byte {
	t.Helper()
	var zip bytes.Buffer
	if err := api.Download(t.Context(), ready, &zip); err != nil {
		t.Fatal(err)
	}
	against := bundle.Against{Targets: targets.All()}
	if _, err := bundle.Verify(t.Context(), bytes.NewReader(zip.Bytes()), int64(zip.Len()), against); err != nil {
		t.Error(err)
	}
	return zip.Bytes()
}
