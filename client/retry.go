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

// Each pause between tries is twice the one before.
const (
	maxTries   = 4
	firstPause = 200 * time.Millisecond
	longPause  = 10 * time.Second // the longest Retry-After that is followed
)

// sendRetrying sends a request, and sends it again when its response was lost, or when the server says when to come
// back. Changes carry an Idempotency-Key, for which the server repeats its first response.
func (c *Client) sendRetrying(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost || request.Method == http.MethodPatch {
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	pause := firstPause
	for try := 1; ; try++ {
		response, err := c.http.Do(request)
		wait, worth := retryAfter(response, err, pause)
		if try == maxTries || !worth || request.Context().Err() != nil {
			return response, err
		}
		if response != nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16)) // so that the connection can be used again
			response.Body.Close()
		}
		if err := sleep(request.Context(), wait); err != nil {
			return nil, err
		}
		if request, err = rewound(request); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

// retryAfter reports whether a request is sent again, and after which pause.
func retryAfter(response *http.Response, err error, pause time.Duration) (time.Duration, bool) {
	if err != nil {
		if _, unknown := errors.AsType[*net.DNSError](err); unknown || errors.Is(err, syscall.ECONNREFUSED) {
			return 0, false // no server was reached
		}
		cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
			errors.Is(err, syscall.EPIPE)
		return pause, cut
	}
	switch response.StatusCode {
	case http.StatusBadGateway, http.StatusGatewayTimeout: // from a proxy on the way
		return pause, true
	case http.StatusConflict, http.StatusServiceUnavailable: // the first try is still running, or the server is busy
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		wait := time.Duration(seconds) * time.Second
		return wait, err == nil && wait <= longPause
	}
	return 0, false
}

// rewound returns a copy of the request whose body starts at its beginning.
func rewound(request *http.Request) (*http.Request, error) {
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
