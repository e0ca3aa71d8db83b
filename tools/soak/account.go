package main

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
	"slices"
	"strings"
)

var welcomePath = regexp.MustCompile(`/welcome/\S+`)

// signUp creates the first account by its welcome link, and returns an access token of it.
// A workspace without an account could not have as many keys as a run creates.
func (in *installation) signUp(ctx context.Context) (token string, err error) {
	// The server may be running already; its data directory does not matter.
	cmd := exec.CommandContext(ctx, in.program, "welcome-link")
	cmd.Env = append(cmd.Environ(), append(slices.Clone(in.control[0].env), "POSTERN_DATA_DIR="+in.dir)...)
	out, err := cmd.Output()
	path := welcomePath.FindString(string(out))
	if err != nil || path == "" {
		return "", fmt.Errorf("welcome-link: %w: %s", errors.Join(err, errors.New("no link")), out)
	}
	client := in.client(callWithin)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	form := url.Values{
		"email":    {"ana@example.com"},
		"name":     {"Ana"},
		"password": {"four unrelated words"},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+controlName+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	signedUp, err := client.Do(r)
	if err != nil {
		return "", fmt.Errorf("create the first account: %w", err)
	}
	defer signedUp.Body.Close()
	return createToken(ctx, client, signedUp.Cookies())
}

// createToken has a session create an access token. The cookies are for https, which HAProxy
// has been told that it speaks, so that no cookie jar would send them.
func createToken(ctx context.Context, client *http.Client, session []*http.Cookie) (string, error) {
	in, err := json.Marshal(map[string]any{"name": "soak", "scopes": []string{"read", "write", "keys", "export"}})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+controlName+"/api/v1/tokens",
		bytes.NewReader(in))
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
