package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// api sends requests to the control plane until they are answered: a request that was cut
// off, or answered 503 or 502, goes out again with the same Idempotency-Key.
type api struct {
	http   *http.Client
	base   string
	token  string
	phases *phases
}

// givesUp is how long an operation is tried. No fault lasts so long.
const givesUp = 90 * time.Second

// errAnswerLost is a change that was carried out, and whose answer the server could not keep.
var errAnswerLost = errors.New("the answer was lost")

// do sends a request until it is answered, and decodes the answer.
func (a *api) do(ctx context.Context, method, path string, in, out any) error {
	ctx, stop := context.WithTimeout(ctx, givesUp)
	defer stop()
	began, idempotencyKey, during := time.Now(), rand.Text(), a.phases.current()
	for first := true; ; first = false {
		status, text, wait, err := a.attempt(ctx, method, path, idempotencyKey, in)
		again := err != nil || status == http.StatusServiceUnavailable || status == http.StatusBadGateway ||
			status == http.StatusConflict && wait > 0
		failed := again && status != http.StatusConflict
		a.phases.requested(during, attempt{first, failed, time.Since(began)})
		if !again {
			return decode(method, path, status, text, out)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s %s is not answered after %s: status %d, %w", method, path,
				time.Since(began).Round(time.Second), status, err)
		case <-time.After(max(wait, 200*time.Millisecond)):
		}
	}
}

// attempt sends the request once. wait is Retry-After.
func (a *api) attempt(
	ctx context.Context, method, path, idempotencyKey string, in any,
) (status int, text []byte, wait time.Duration, err error) {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return 0, nil, 0, err
		}
		body = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.base+path, body)
	if err != nil {
		return 0, nil, 0, err
	}
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost {
		r.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := a.http.Do(r)
	if err != nil {
		return 0, nil, 0, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 without one
	return response.StatusCode, text, time.Duration(seconds) * time.Second, err
}

func decode(method, path string, status int, text []byte, out any) error {
	if status/100 != 2 {
		var problem struct{ Code string }
		if json.Unmarshal(text, &problem) == nil && problem.Code == "idempotency_answer_lost" {
			return errAnswerLost
		}
		return fmt.Errorf("%s %s: %d %s", method, path, status, text)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
