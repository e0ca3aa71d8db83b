package app_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/app"
	"postern/testkit"
)

// longStatus answers every request with a status line of 900 KB until the test ends.
func longStatus(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 500 %s\r\nContent-Length: 0\r\n\r\n", strings.Repeat("x", 900_000))
			}
			_ = conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

// The log doesn't repeat an issuer's answer in full.
func TestNew_boundedIssuerAnswer(t *testing.T) {
	var log testkit.LogBuffer
	a, err := app.New(t.Context(), settings(t.TempDir(), ""), "test", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	issuer := longStatus(t)
	during(t, a, func(browser *http.Client) {
		body := `{"target":"` + issuer + `","requests_auth":{"mode":"authenticate","methods":["jwt"],` +
			`"jwt":{"allowed_pairs":[{"iss":"` + issuer + `","aud":"api"}]}}}`
		answer, err := browser.Post(a.Config.PublicURL+"/proxy", "application/json", strings.NewReader(body))
		status, text := read(t, answer, err)
		var made struct {
			Project struct {
				Environments []struct{ URL string }
			}
		}
		if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusCreated {
			t.Fatalf("POST /proxy: %d %s", status, text)
		}
		part := base64.RawURLEncoding.EncodeToString
		token := part([]byte(`{"alg":"RS256","kid":"x"}`)) + "." +
			part(
				fmt.Appendf(
					nil,
					`{"iss":%q,"aud":"api","sub":"ana","exp":%d}`,
					issuer,
					time.Now().Add(time.Hour).Unix(),
				),
			) + "." + part([]byte("none"))
		call, err := http.NewRequestWithContext(t.Context(), http.MethodGet, made.Project.Environments[0].URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		call.Header.Set("Authorization", "Bearer "+token)
		answer, err = browser.Do(call)
		if status, text := read(t, answer, err); status < 500 {
			t.Errorf("a call whose issuer does not answer: %d %s", status, text)
		}
	})
	text := log.String()
	if !strings.Contains(text, "could not fetch the keys of a token issuer") || len(text) > 20_000 {
		t.Errorf("%d bytes of log: %.300s", len(text), text)
	}
}
