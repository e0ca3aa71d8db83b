package audit_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/audit"
	"postern/testkit/state"
)

func newStream(t *testing.T, db *models.DB, sink audit.Sink) *audit.Stream {
	t.Helper()
	return &audit.Stream{
		DB:       db,
		Name:     "test",
		Sink:     sink,
		Position: filepath.Join(t.TempDir(), "position"),
		Log:      slog.New(slog.DiscardHandler),
	}
}

// heads checks the lines of a stream by themselves, as someone without the database would:
// each hash is that of the entry's bytes, and each entry names the hash before it. It
// returns the last number and hash of each chain.
func heads(t *testing.T, text string) map[string]audit.Head {
	t.Helper()
	ends := map[string]audit.Head{}
	for line := range strings.Lines(text) {
		var outer struct {
			Hash  string
			Entry json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &outer); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var entry struct {
			Previous, Team string
			Number         int64
		}
		if err := json.Unmarshal(outer.Entry, &entry); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(outer.Entry)
		if hex.EncodeToString(sum[:]) != outer.Hash {
			t.Errorf("the hash of entry %d of %s is not that of its bytes", entry.Number, entry.Team)
		}
		end := ends[entry.Team]
		if entry.Previous != end.Hash || entry.Number != end.Number+1 {
			t.Errorf("entry %d of %s does not follow entry %d", entry.Number, entry.Team, end.Number)
		}
		ends[entry.Team] = audit.Head{Number: entry.Number, Hash: outer.Hash}
	}
	return ends
}

func TestStream_file(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		file := filepath.Join(t.TempDir(), "audit.jsonl")
		stream := newStream(t, db, audit.FileSink(file))
		once := func(want int) string {
			t.Helper()
			if err := stream.Once(t.Context()); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(text), "\n"); got != want {
				t.Errorf("the file has %d lines, want %d", got, want)
			}
			return string(text)
		}
		for range 300 { // more than are delivered at a time
			record(t, db, "team_a")
		}
		record(t, db, "team_b", "team_a")
		once(302)
		once(302)
		record(t, db, "team_b")
		again := newStream(t, db, audit.FileSink(file)) // a server that was started again
		again.Position = stream.Position
		stream = again
		text := once(303)
		verdicts, err := audit.VerifyAll(t.Context(), db, contract.AuditVerification{})
		if err != nil {
			t.Fatal(err)
		}
		ends := heads(t, text)
		for _, v := range verdicts {
			if end := ends[teamOf(v)].String(); !v.Intact || end != v.Head {
				t.Errorf("the stream of %q ends at %v, the log at %v", teamOf(v), end, v.Head)
			}
		}

		// A crash cut the last line off before its position was kept.
		if err := os.WriteFile(file, []byte(text[:len(text)-10]), 0o600); err != nil {
			t.Fatal(err)
		}
		record(t, db, "team_b")
		if cut := once(304); !strings.HasSuffix(cut, "}}\n") && !strings.HasSuffix(cut, "}\n") {
			t.Errorf("the file ends in %q", cut[len(cut)-20:])
		}
	})
}

func TestStream_webhook(t *testing.T) {
	db := state.OpenSQLite(t)
	var got strings.Builder
	status := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, kind := r.Header.Get("Authorization"), r.Header.Get("Content-Type")
		if token != "Bearer canary-token" || kind != "application/x-ndjson" {
			t.Errorf("got the headers %v", r.Header)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		if status == http.StatusNoContent {
			got.Write(body)
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	stream := newStream(t, db, audit.WebhookSink{URL: server.URL + "/canary-path", Token: "canary-token"})
	record(t, db, "team_a", "team_b")
	for _, refusal := range []int{http.StatusServiceUnavailable, http.StatusFound, http.StatusBadRequest} {
		status = refusal
		if err := stream.Once(t.Context()); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("with status %d: got %v, want an error without secrets", refusal, err)
		}
	}
	status = http.StatusNoContent
	if err := stream.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ends := heads(t, got.String()); ends["team_a"].Number != 1 || ends["team_b"].Number != 1 {
		t.Errorf("the webhook got %q", got.String())
	}
	server.Close()
	record(t, db, "team_a")
	if err := stream.Once(t.Context()); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("without a server: got %v, want an error without secrets", err)
	}
}

// Entries that were written just before a stop are delivered.
func TestStream_resumption(t *testing.T) {
	db := state.OpenSQLite(t)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	record(t, db, "team_a")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	newStream(t, db, audit.FileSink(file)).Run(ctx)
	text, err := os.ReadFile(file)
	if err != nil || heads(t, string(text))["team_a"].Number != 1 {
		t.Errorf("got %q, %v; want one line", text, err)
	}
}
