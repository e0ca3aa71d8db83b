package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
	"postern/testkit"
)

func TestExport_download(t *testing.T) {
	api, _ := workspace(t, start(t))
	queued, err := client.Do(t.Context(), api, contract.CreateExport, contract.NewExport{Format: "gateway"}.In("shop"))
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	ready, err := api.WaitExport(t.Context(), queued.ID, func(e contract.Export) { states = append(states, e.State) })
	if err != nil {
		t.Fatal(err)
	}
	if len(states) == 0 || states[len(states)-1] != "ready" {
		t.Errorf("progress was called with the states %v, want ready as the last", states)
	}
	var zip bytes.Buffer
	if err := api.Download(t.Context(), ready, &zip); err != nil {
		t.Fatal(err)
	}
	against := bundle.Against{Targets: targets.All()}
	if _, err := bundle.Verify(t.Context(), bytes.NewReader(zip.Bytes()), int64(zip.Len()), against); err != nil {
		t.Error(err)
	}
}

func TestDownload(t *testing.T) {
	content := []byte(strings.Repeat("zip", 1000))
	sum := sha256.Sum256(content)
	ready := contract.Export{ID: "exp_1", SizeBytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	answer := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:10])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		to    io.Writer // nil: a buffer that is compared with the content
		code  string
		fails bool
	}{
		"whole":     {serve: answer(content)},
		"shorter":   {serve: answer(content[1:]), code: "download_damaged", fails: true},
		"longer":    {serve: answer(append(bytes.Clone(content), 0)), code: "download_damaged", fails: true},
		"changed":   {serve: answer(bytes.ToUpper(content)), code: "download_damaged", fails: true},
		"cut off":   {serve: cut, code: "download_cut_off", fails: true},
		"disk full": {serve: answer(content), to: fullDisk{}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			to := test.to
			if to == nil {
				to = &got
			}
			err := connect(t, answering(t, test.serve), "").Download(t.Context(), ready, to)
			if (err != nil) != test.fails {
				t.Errorf("error = %v, want one: %v", err, test.fails)
			}
			if code := fault.CodeOf(err); code != test.code {
				t.Errorf("code = %q, want %q", code, test.code)
			}
			if err == nil && !bytes.Equal(got.Bytes(), content) {
				t.Error("the downloaded bytes differ from the served ones")
			}
		})
	}
}

// fullDisk fails every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWaitExport(t *testing.T) {
	inState := func(state string) *client.Client {
		return connect(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(contract.Export{ID: "exp_1", State: state, Error: "Why it failed."})
		}), "")
	}
	for state, code := range map[string]string{
		"failed":    "export_failed",
		"cancelled": "export_cancelled",
		"expired":   "export_expired",
	} {
		t.Run(state, func(t *testing.T) {
			if _, err := inState(state).WaitExport(t.Context(), "exp_1", nil); fault.CodeOf(err) != code {
				t.Errorf("error = %v, want the code %s", err, code)
			}
		})
	}
	t.Run("caller cancels", func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		_, err := inState("building").WaitExport(ctx, "exp_1", func(contract.Export) { stop() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want %v", err, context.Canceled)
		}
	})
}

// A waiting client follows the stream of events, and polls where it gets none.
func TestWaitExport_stream(t *testing.T) {
	const path = "/api/v1/exports/exp_1"
	building := `data: {"id":"exp_1","state":"building","progress":{"rows_done":%d}}` + "\n\n"
	const ready = `data: {"id":"exp_1","state":"ready"}` + "\n\n"
	send := func(w http.ResponseWriter, text string) {
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	for name, tt := range testkit.ByName(map[string]struct {
		stream func(w http.ResponseWriter, r *http.Request, n int)
		polls  bool
		rows   []int64 // of the progress that is shown before the end
	}{
		"to its end": {
			stream: func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Content-Type", "text/event-stream")
				send(w, "retry: 2000\n\n"+fmt.Sprintf(building, 1))
				send(w, fmt.Sprintf(building, 2)+ready)
			},
			rows: []int64{1, 2},
		},
		"ended by the server": {
			stream: func(w http.ResponseWriter, _ *http.Request, n int) {
				w.Header().Set("Content-Type", "text/event-stream")
				if n == 1 {
					send(w, fmt.Sprintf(building, 1))
					return
				}
				send(w, ready)
			},
			rows: []int64{1},
		},
		"not offered": {
			stream: func(w http.ResponseWriter, r *http.Request, _ int) { http.NotFound(w, r) },
			polls:  true,
		},
		"another answer": {
			stream: func(w http.ResponseWriter, _ *http.Request, _ int) {
				send(w, `{"id":"exp_1","state":"building"}`)
			},
			polls: true,
		},
		"cut off, and then refused": {
			stream: func(w http.ResponseWriter, _ *http.Request, n int) {
				if n > 1 {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				send(w, fmt.Sprintf(building, 1)+"data: {")
				panic(http.ErrAbortHandler)
			},
			polls: true,
			rows:  []int64{1},
		},
		"held back": {
			stream: func(w http.ResponseWriter, r *http.Request, _ int) {
				w.Header().Set("Content-Type", "text/event-stream")
				send(w, ":")
				<-r.Context().Done()
			},
			polls: true,
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var streams, polls atomic.Int32
			api := connect(t, answering(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case path + "/events":
					tt.stream(w, r, int(streams.Add(1)))
				case path:
					polls.Add(1)
					_ = json.NewEncoder(w).Encode(contract.Export{ID: "exp_1", State: "ready"})
				default:
					t.Errorf("asked for %s", r.URL.Path)
				}
			}), "").WithFirstEventWithin(time.Second)
			var rows []int64
			e, err := api.WaitExport(t.Context(), "exp_1", func(e contract.Export) {
				if e.State == "building" {
					rows = append(rows, e.Progress.RowsDone)
				}
			})
			if err != nil || e.State != "ready" {
				t.Fatalf("%+v, %v", e, err)
			}
			if polled := polls.Load() > 0; polled != tt.polls || !slices.Equal(rows, tt.rows) {
				t.Errorf("polled %v after the rows %v, want %v after %v", polled, rows, tt.polls, tt.rows)
			}
		})
	}
}
