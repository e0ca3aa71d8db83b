package handlers_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestReadiness(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		server := controlplane.NewServer(t, db)
		ask := func() (int, string) {
			answer := httptest.NewRecorder()
			server.Handler().ServeHTTP(
				answer,
				httptest.NewRequestWithContext(t.Context(), http.MethodGet, server.Config.PublicURL+"/readyz", nil),
			)
			return answer.Code, answer.Body.String()
		}
		if status, body := ask(); status != http.StatusOK || body != "ready\n" {
			t.Errorf("%d %q", status, body)
		}
		server.Ready = func(context.Context) (string, error) { return "one project waits", nil }
		if status, body := ask(); status != http.StatusOK || body != "ready, but one project waits\n" {
			t.Errorf("with something to look into: %d %q", status, body)
		}
		server.Ready = func(context.Context) (string, error) { return "", errors.New("secret detail") }
		if status, body := ask(); status != http.StatusServiceUnavailable || body != "not ready\n" {
			t.Errorf("not ready: %d %q", status, body)
		}
		server.Ready = func(context.Context) (string, error) { return "degraded", errors.New("secret detail") }
		if status, body := ask(); status != http.StatusServiceUnavailable || body != "not ready: degraded\n" {
			t.Errorf("not ready, with something to say: %d %q", status, body)
		}
	})
}
