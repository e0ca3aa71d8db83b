// Package account creates the first account of an installation that a tool has started, as a person does with the link
// of `postern welcome-link`. A workspace without an account may not import, nor have as many keys as tools create.
package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
)

var welcomePath = regexp.MustCompile(`/welcome/\S+`)

// First creates the first account of the server at base, and returns an access token of it. The program opens the
// server's database, which env and the process's own variables name; the server may be running.
func First(ctx context.Context, client *http.Client, base, program string, env ...string) (token string, err error) {
	cmd := exec.CommandContext(ctx, program, "welcome-link")
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.Output()
	path := welcomePath.FindString(string(out))
	if err != nil || path == "" {
		return "", fmt.Errorf("welcome-link: %w: %s", errors.Join(err, errors.New("no link")), out)
	}
	form := url.Values{
		"email":    {"ana@example.com"},
		"name":     {"Ana"},
		"password": {"four unrelated words"},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	asked := *client
	asked.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	signedUp, err := asked.Do(r)
	if err != nil {
		return "", fmt.Errorf("create the first account: %w", err)
	}
	defer signedUp.Body.Close()
	return createToken(ctx, &asked, base, signedUp.Cookies())
}

// createToken has a session create an access token. The session's cookies may be for https, which a proxy in front of
// the server speaks, so that no cookie jar would send them.
func createToken(ctx context.Context, client *http.Client, base string, session []*http.Cookie) (string, error) {
	in, err := json.Marshal(map[string]any{"name": "tool", "scopes": []string{"read", "write", "keys", "export"}})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/v1/tokens", bytes.NewReader(in))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	for _, c := range session {
		r.AddCookie(c)
	}
	response, err := client.Do(r)
	if err != nil {
		return "", fmt.Errorf("create a token: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var made struct{ Token string }
	if err != nil || json.Unmarshal(text, &made) != nil || made.Token == "" {
		return "", fmt.Errorf("create a token: %s %.300s: %w", response.Status, text, err)
	}
	return made.Token, nil
}
