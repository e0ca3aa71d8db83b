package web

import (
	"net/http"
	"sync"
	"time"
)

// DefaultStallTimeout is how long a client may read nothing of an answer. A limit for
// the whole answer would cut off downloads that are slow but progress.
const DefaultStallTimeout = time.Minute

// StallTimeout closes the connection of a client that reads nothing for the timeout.
func StallTimeout(timeout time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &stallWriter{ResponseWriter: w, connection: http.NewResponseController(w), timeout: timeout}
		// The server writes what is buffered after the handler has returned.
		defer s.extend()
		next.ServeHTTP(s, r)
	})
}

// stallWriter moves the write deadline with every write. It has no ReadFrom on purpose,
// which would write a whole file within one deadline.
type stallWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
	timeout    time.Duration

	mu          sync.Mutex // WhileAllowed sets a deadline while the handler writes
	ownDeadline bool       // the handler sets deadlines itself
	ended       bool       // a deadline in the past was set: nothing moves it any more
}

func (w *stallWriter) extend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ownDeadline {
		_ = w.connection.SetWriteDeadline(time.Now().Add(w.timeout))
	}
}

func (w *stallWriter) Write(b []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (w *stallWriter) Flush() {
	w.extend()
	_ = w.connection.Flush()
}

// SetWriteDeadline is called by http.ResponseController. A deadline in the past ends the answer.
func (w *stallWriter) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil
	}
	w.ownDeadline, w.ended = true, t.Before(time.Now())
	return w.connection.SetWriteDeadline(t)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *stallWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
