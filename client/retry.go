package client

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// How often a request is sent, and how long the first pause is; each pause is
// twice the one before.
const (
	maxTries   = 4
	firstPause = 200 * time.Millisecond
	longPause  = 10 * time.Second // the longest that a server may ask for
)

// persist sends a request again when nobody knows whether it was carried out.
// Changes carry an Idempotency-Key, by which the server knows them again and
// gives its first answer.
func (c *Client) persist(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost || request.Method == http.MethodPatch {
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	pause := firstPause
	for try := 1; ; try++ {
		answer, err := c.http.Do(request)
		wait, worth := worthAnother(answer, err, pause)
		if try == maxTries || !worth || request.Context().Err() != nil {
			return answer, err
		}
		if answer != nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16)) // so that the connection can be used again
			answer.Body.Close()
		}
		if err := sleep(request.Context(), wait); err != nil {
			return nil, err
		}
		if request, err = anew(request); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

// worthAnother tells whether sending a request again can help, and when.
func worthAnother(answer *http.Response, err error, pause time.Duration) (time.Duration, bool) {
	if err != nil {
		if _, unknown := errors.AsType[*net.DNSError](err); unknown || errors.Is(err, syscall.ECONNREFUSED) {
			return 0, false // there is nobody
		}
		cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
			errors.Is(err, syscall.EPIPE)
		return pause, cut
	}
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusGatewayTimeout: // of something between us and the server
		return pause, true
	case http.StatusConflict:
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")) // our first try is still being carried out
		wait := time.Duration(seconds) * time.Second
		return wait, err == nil && wait <= longPause
	}
	return 0, false
}

// anew is the request with its body from the beginning.
func anew(request *http.Request) (*http.Request, error) {
	out := request.Clone(request.Context())
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	return out, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
