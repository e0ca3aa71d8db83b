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
// off, or got 503 or 502, goes out again with the same Idempotency-Key.
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
	r := a.request(method, path, in)
	for {
		status, text, wait, err := a.attempt(ctx, r)
		again := err != nil || status == http.StatusServiceUnavailable || status == http.StatusBadGateway ||
			status == http.StatusConflict && wait > 0
		if !again {
			return decode(method, path, status, text, out)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s %s is not answered after %s: status %d, %w", method, path,
				time.Since(r.began).Round(time.Second), status, err)
		case <-time.After(max(wait, 200*time.Millisecond)):
		}
	}
}

// request is one that is sent until it is answered.
type request struct {
	method, path, idempotencyKey string
	in                           any
	began                        time.Time
	during                       *phase // to which it belongs
	attempts                     int
	statuses                     []int // of the attempts, 0 without an answer
}

func (a *api) request(method, path string, in any) *request {
	return &request{
		method:         method,
		path:           path,
		idempotencyKey: rand.Text(),
		in:             in,
		began:          time.Now(),
		during:         a.phases.current(),
	}
}

// attempt sends a request once more, and counts that. wait is Retry-After.
func (a *api) attempt(
	ctx context.Context, r *request,
) (status int, text []byte, wait time.Duration, err error) {
	sent := attempt{first: r.attempts == 0, in: a.phases.current(), sent: time.Now()}
	r.attempts++
	status, text, wait, err = a.send(ctx, r)
	sent.failed = err != nil || status == http.StatusServiceUnavailable || status == http.StatusBadGateway
	sent.took = time.Since(r.began)
	r.statuses = append(r.statuses, status)
	sent.what = fmt.Sprint(r.method, " ", r.path, " ", r.statuses)
	r.during = a.phases.requested(r.during, sent)
	return status, text, wait, err
}

func (a *api) send(ctx context.Context, of *request) (status int, text []byte, wait time.Duration, err error) {
	var body io.Reader
	if of.in != nil {
		encoded, err := json.Marshal(of.in)
		if err != nil {
			return 0, nil, 0, err
		}
		body = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, of.method, a.base+of.path, body)
	if err != nil {
		return 0, nil, 0, err
	}
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	if of.in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if of.method == http.MethodPost {
		r.Header.Set("Idempotency-Key", of.idempotencyKey)
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
