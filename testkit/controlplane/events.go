package controlplane

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
)

// Events is a stream of server-sent events (WHATWG HTML, 9.2).
type Events struct {
	*bufio.Scanner
	T testing.TB
}

// FollowEvents opens the stream at url, after the event with the id last if it is not
// empty. The stream is closed when the test ends.
func FollowEvents(t testing.TB, url, token, last string) Events {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	must(t, err)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("status %d", answer.StatusCode)
	}
	if contentType := answer.Header.Get("Content-Type"); contentType != "text/event-stream" {
		t.Fatalf("content type %q", contentType)
	}
	if cacheControl := answer.Header.Get("Cache-Control"); cacheControl != "no-store" {
		t.Fatalf("Cache-Control %q", cacheControl)
	}
	e := Events{bufio.NewScanner(answer.Body), t}
	if id, _ := e.Next(); id != "" {
		t.Fatalf("the stream begins with an event, want retry: %q", id)
	}
	return e
}

// Next waits for the next event and returns its id and data.
func (e Events) Next() (id, data string) {
	e.T.Helper()
	for e.Scan() {
		switch name, value, _ := strings.Cut(e.Text(), ": "); name {
		case "id":
			id = value
		case "data":
			data += value
		case "":
			return id, data
		}
	}
	e.T.Fatalf("the stream ended: %v", e.Err())
	return "", ""
}
