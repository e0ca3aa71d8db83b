package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/platform/fault"
)

// TestAwaitDevice runs against a server that gives one response after another.
func TestAwaitDevice(t *testing.T) {
	for want, answers := range map[string][]string{
		"": {
			`{"error":"authorization_pending"}`,
			`{"access_token":"t","token_type":"Bearer","expires_in":1,"scope":"read"}`,
		},
		"access_denied": {`{"error":"authorization_pending"}`, `{"error":"access_denied"}`},
		"expired_token": {`{"error":"expired_token"}`},
		"invalid_grant": {`{"error":"invalid_grant"}`},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := answers[asked.Add(1)-1]
				if r.FormValue("device_code") != "code" || r.FormValue("client_id") != "postern-cli" {
					t.Errorf("asked with %v", r.Form)
				}
				if answer[2] == 'e' {
					w.WriteHeader(http.StatusBadRequest)
				}
				_, _ = w.Write([]byte(answer))
			}))
			t.Cleanup(server.Close)
			grant, err := connect(t, server.URL, "").AwaitDevice(t.Context(), contract.Device{
				DeviceCode: "code",
				Interval:   1,
			})
			if fault.CodeOf(err) != want {
				t.Errorf("error = %v, want the code %q", err, want)
			}
			if want == "" && grant.AccessToken != "t" {
				t.Errorf("grant = %+v, want the access token t", grant)
			}
			if int(asked.Load()) != len(answers) {
				t.Errorf("the server was asked %d times, want %d", asked.Load(), len(answers))
			}
		})
	}
}

func TestAwaitDevice_canceled(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := connect(t, "http://127.0.0.1:1", "").AwaitDevice(ctx, contract.Device{Interval: 3600}); err == nil {
		t.Error("no error after the context has ended")
	}
}
