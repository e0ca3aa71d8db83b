package web

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"postern/core/filelimits"
	"postern/platform/fault"
)

// Bounds on uploaded zips, besides their size.
const (
	maxUploads    = 2                // that one server takes in at a time
	uploadPause   = 30 * time.Second // in which the client sends nothing
	uploadWithin  = 30 * time.Minute
	uploadAtOnce  = 256 << 10
	uploadRetryIn = 10 * time.Second
)

// UploadRoutes are the paths whose body may be an uploaded zip. Their handlers bound it with
// Receive, after they have checked the permission.
var UploadRoutes = []string{"/api/v1/imports", "/imports/preview", "/imports"}

func takesUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && slices.Contains(UploadRoutes, r.URL.Path)
}

// mostOf returns how many bytes of a request's body are read, one more than its handler takes.
func mostOf(r *http.Request) int64 {
	post := r.Method == http.MethodPost
	switch {
	case takesUpload(r):
		return filelimits.MaxZip + MaxBody // with the fields of its form
	case (post || r.Method == http.MethodPut) && strings.HasSuffix(r.URL.Path, "/openapi"):
		return MaxDocument + 1
	case post && (r.URL.Path == "/proxy" || strings.HasSuffix(r.URL.Path, "/relations/import")):
		return MaxFile + 1
	}
	return MaxBody + 1
}

// Upload is a request's body in a temporary file, which Close removes.
type Upload struct {
	*os.File
	Size   int64
	SHA256 [32]byte
	done   func()
}

// Close implements io.Closer.
func (u *Upload) Close() error {
	defer u.done()
	return errors.Join(u.File.Close(), removed(u.Name()))
}

// removed removes a file that may be gone already.
func removed(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Receive reads an upload from body into a temporary file of the data directory. It refuses one
// that is too large, and one too many at a time as Unavailable.
func (s *Site) Receive(w http.ResponseWriter, body io.Reader) (*Upload, error) {
	if s.uploads.Add(1) > maxUploads {
		s.uploads.Add(-1)
		return nil, fault.New(fault.Unavailable, "too_many_uploads", "This server is taking in other zips. Try again "+
			"in a moment.").After(uploadRetryIn)
	}
	u, err := s.receive(w, body)
	if err != nil {
		s.uploads.Add(-1)
		return nil, err
	}
	u.done = func() { s.uploads.Add(-1) }
	return u, nil
}

func (s *Site) receive(w http.ResponseWriter, body io.Reader) (*Upload, error) {
	folder := filepath.Join(s.Config.DataDir, "uploads")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("web: make the folder of uploads: %w", err)
	}
	file, err := os.CreateTemp(folder, "*.zip")
	if err != nil {
		return nil, fmt.Errorf("web: begin an upload: %w", err)
	}
	// The open file has no name from here on, so that a killed server leaves nothing behind. Where
	// that is not possible, Close removes it.
	_ = os.Remove(file.Name())
	u := &Upload{File: file}
	if u.Size, u.SHA256, err = copyUpload(http.NewResponseController(w), file, body); err != nil {
		return nil, errors.Join(err, file.Close(), removed(file.Name()))
	}
	return u, nil
}

// copyUpload moves the read deadline while the client sends: one for the whole body would cut
// off slow uploads.
func copyUpload(connection *http.ResponseController, to io.Writer, body io.Reader) (int64, [32]byte, error) {
	sum := sha256.New()
	both := io.MultiWriter(to, sum)
	end := time.Now().Add(uploadWithin)
	defer func() { _ = connection.SetReadDeadline(time.Time{}) }() // or it would end the request while it is worked on
	var size int64
	for {
		until := time.Now().Add(uploadPause)
		if until.After(end) {
			until = end
		}
		_ = connection.SetReadDeadline(until) // a test's recorder has none
		n, err := io.CopyN(both, body, uploadAtOnce)
		if size += n; size > filelimits.MaxZip {
			return 0, [32]byte{}, fault.New(fault.TooLarge, "too_large", "%s", filelimits.ZipSize.Sentence())
		}
		if errors.Is(err, io.EOF) {
			return size, [32]byte(sum.Sum(nil)), nil
		}
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return 0, [32]byte{}, fault.New(fault.TooLarge, "too_large", "%s", filelimits.ZipSize.Sentence())
		}
		if err != nil {
			return 0, [32]byte{}, fault.New(fault.Malformed, "upload_broken", "The upload broke off. Send it again.").
				Because(err)
		}
	}
}
