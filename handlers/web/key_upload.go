package web

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"postern/platform/fault"
)

// maxKeyFile bounds a file of API keys, in bytes.
const maxKeyFile = 1 << 30

// maxKeyFiles is how many files of keys are read at a time.
const maxKeyFiles = 8

// KeyImportRoute is the path of the operation whose body is a file of API keys.
const KeyImportRoute = "/api/v1/projects/:project/keys/import"

// takesKeys reports whether a request has a file of API keys: of the operation, or a form of the dashboard's page.
func takesKeys(r *http.Request) bool {
	ofPage, isPage := strings.CutPrefix(r.URL.Path, "/projects/")
	if isPage {
		ofPage = strings.TrimSuffix(ofPage, "/preview")
	}
	ofAPI, isAPI := strings.CutPrefix(r.URL.Path, "/api/v1/projects/")
	return r.Method == http.MethodPost && (isPage && strings.HasSuffix(ofPage, "/keys/import") ||
		isAPI && strings.HasSuffix(ofAPI, "/keys/import"))
}

// ReceiveKeys returns the body of a request with a file of keys, to be read as it arrives, and waits for a place to do
// that. The deadline for reading moves while the client sends. leave gives the place up.
func (s *Site) ReceiveKeys(w http.ResponseWriter, r *http.Request) (body io.Reader, leave func(), err error) {
	place, err := s.keyFiles.placeOf(r.Context(), maxKeyFiles)
	if err != nil {
		return nil, nil, err
	}
	b := &arriving{
		body: r.Body, connection: http.NewResponseController(w), end: time.Now().Add(uploadWithin), owed: uploadAtOnce,
	}
	return b, func() { _ = b.connection.SetReadDeadline(time.Time{}); place() }, nil
}

// arriving is a body that is read while it is sent.
type arriving struct {
	body       io.Reader
	connection *http.ResponseController
	end        time.Time
	size       int64
	waited     time.Duration // for the bytes that the client owes: the time between reads is our own work
	owed       int
}

// Read implements io.Reader.
func (a *arriving) Read(p []byte) (int, error) {
	began := time.Now()
	until := began.Add(uploadPause - a.waited)
	if until.After(a.end) {
		until = a.end
	}
	_ = a.connection.SetReadDeadline(until) // a test's recorder doesn't support deadlines
	n, err := a.body.Read(p)
	a.waited += time.Since(began)
	if a.owed -= n; a.owed <= 0 {
		a.waited, a.owed = 0, uploadAtOnce
	}
	a.size += int64(n)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case a.size > maxKeyFile:
		return n, fault.New(fault.TooLarge, "too_large", "The file is larger than %d MiB. Split it.", maxKeyFile>>20)
	}
	return n, fault.New(fault.Malformed, "upload_broken", "The upload was interrupted. Try again with the same "+
		"Idempotency-Key.").Because(err)
}
