package h2

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// feed serves a connection that sends text, and ends.
func feed(t *testing.T, text []byte) {
	s := &Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }),
		Limits: Limits{
			Streams:     4,
			HeaderBytes: 4 << 10,
			Header:      time.Second,
			Idle:        time.Second,
			Write:       time.Second,
		},
		Recovered: func(fault any, stack []byte) { t.Errorf("%v\n%s", fault, stack) },
	}
	here, there := net.Pipe()
	s.Serve(there)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, here)
	}()
	_ = here.SetWriteDeadline(time.Now().Add(time.Minute))
	_, err := io.WriteString(here, http2.ClientPreface)
	if err == nil {
		_, _ = here.Write(text)
	}
	_ = here.Close() // the server still reads the last frames, and has no one to tell why they are refused
	<-read
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	_ = s.Close()
}
