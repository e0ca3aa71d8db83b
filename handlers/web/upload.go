package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"postern/core/filelimits"
	"postern/core/policy"
	"postern/platform/fault"
	"postern/platform/scratch"
)

// Bounds on uploaded zips, besides their size.
const (
	uploadPause   = 30 * time.Second // in which a client sends less than uploadAtOnce
	uploadWithin  = 30 * time.Minute
	uploadAtOnce  = 256 << 10
	uploadRetryIn = 10 * time.Second

	// An upload has a share of the disk while it is received, for the bytes that have come, and a place for the work on
	// it once it is whole: a client that sends slowly keeps no others from their imports.
	maxSpooled      = 4 * filelimits.MaxZip
	maxSpooledOfOne = maxSpooled / 2 // of one account, and from one address
	maxUploads      = 2              // that are worked on at a time
	uploadTurn      = time.Minute    // that an upload waits for its place
)

// UploadRoutes are the paths whose body may be an uploaded zip or a file of another gateway. Their handlers bound it
// with Receive, after they have checked the permission.
var UploadRoutes = []string{"/api/v1/imports", "/imports/preview", "/imports/plan", "/imports"}

func takesUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && slices.Contains(UploadRoutes, r.URL.Path)
}

// mostOf returns how many bytes of a request's body are read, one more than its handler takes.
func mostOf(r *http.Request) int64 {
	post := r.Method == http.MethodPost
	switch {
	case takesKeys(r):
		return maxKeyFile
	case takesUpload(r):
		return filelimits.MaxZip + MaxBody // with the fields of its form
	case (post || r.Method == http.MethodPut) && strings.HasSuffix(r.URL.Path, "/openapi"):
		return MaxDocument + 1
	case post && (r.URL.Path == "/proxy" || strings.HasSuffix(r.URL.Path, "/relations/import")):
		return MaxFile + 1
	case isCallback(r):
		return maxCallbackForm
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

// uploads are the shares and places of uploads. The zero value is ready.
type uploads struct {
	mu      sync.Mutex
	spooled map[string]int64 // bytes by account, and by address
	sum     int64
	places  chan struct{}
}

var errManyUploads = fault.New(fault.Unavailable, "too_many_uploads", "This server is processing other imports. "+
	"Try again in a moment.").After(uploadRetryIn)

// spool counts n more bytes of uploads of an account and from an address, or refuses them.
func (u *uploads) spool(n int64, of ...string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n > 0 && (u.sum+n > maxSpooled || slices.ContainsFunc(of, func(one string) bool {
		return u.spooled[one]+n > maxSpooledOfOne
	})) {
		return errManyUploads
	}
	if u.spooled == nil {
		u.spooled = map[string]int64{}
	}
	u.sum += n
	for _, one := range of {
		if u.spooled[one] += n; u.spooled[one] == 0 {
			delete(u.spooled, one)
		}
	}
	return nil
}

// place waits for a place to work on an upload. leave gives it up.
func (u *uploads) place(ctx context.Context) (leave func(), err error) {
	return u.placeOf(ctx, maxUploads)
}

// placeOf is place, of at most that many.
func (u *uploads) placeOf(ctx context.Context, most int) (leave func(), err error) {
	u.mu.Lock()
	if u.places == nil {
		u.places = make(chan struct{}, most)
	}
	u.mu.Unlock()
	timed, stop := context.WithTimeout(ctx, uploadTurn)
	defer stop()
	select {
	case u.places <- struct{}{}:
		return func() { <-u.places }, nil
	case <-timed.Done():
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, errManyUploads
}

// Receive reads an upload from body into a temporary file of the data directory, and waits for a place to work on it,
// which Close gives up. It refuses one that is too large, and, as Unavailable, one too many at a time.
func (s *Site) Receive(w http.ResponseWriter, r *http.Request, body io.Reader) (*Upload, error) {
	account, address := Principal(r.Context()).Account, policy.SourceName(r.RemoteAddr)
	spooled := int64(0)
	count := func(n int64) error {
		err := s.uploads.spool(n, account, address)
		if err == nil {
			spooled += n
		}
		return err
	}
	forget := func() { _ = s.uploads.spool(-spooled, account, address) }
	u, err := s.receive(w, body, count)
	if err != nil {
		forget()
		return nil, err
	}
	leave, err := s.uploads.place(r.Context())
	if err != nil {
		u.done = forget
		return nil, errors.Join(err, u.Close())
	}
	u.done = func() { leave(); forget() }
	return u, nil
}

func (s *Site) receive(w http.ResponseWriter, body io.Reader, count func(int64) error) (*Upload, error) {
	folder := s.Config.UploadDir()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("web: create the upload folder: %w", err)
	}
	file, err := scratch.File(folder)
	if err != nil {
		return nil, fmt.Errorf("web: begin an upload: %w", err)
	}
	// The open file has no name from here on, so that a killed server leaves nothing behind. If that is not possible,
	// Close removes it.
	_ = os.Remove(file.Name())
	u := &Upload{File: file}
	if u.Size, u.SHA256, err = copyUpload(http.NewResponseController(w), file, body, count); err != nil {
		return nil, errors.Join(err, file.Close(), removed(file.Name()))
	}
	return u, nil
}

// copyUpload moves the read deadline while the client sends: one for the whole body would cut
// off slow uploads. count may refuse more bytes.
func copyUpload(
	connection *http.ResponseController, to io.Writer, body io.Reader, count func(int64) error,
) (int64, [32]byte, error) {
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
		_ = connection.SetReadDeadline(until) // a test's recorder doesn't support deadlines
		n, err := io.CopyN(both, body, uploadAtOnce)
		if size += n; size > filelimits.MaxZip {
			return 0, [32]byte{}, fault.New(fault.TooLarge, "too_large", "%s", filelimits.ZipSize.Sentence())
		}
		if err := count(n); err != nil {
			return 0, [32]byte{}, err
		}
		if errors.Is(err, io.EOF) {
			return size, [32]byte(sum.Sum(nil)), nil
		}
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return 0, [32]byte{}, fault.New(fault.TooLarge, "too_large", "%s", filelimits.ZipSize.Sentence())
		}
		if err != nil {
			return 0, [32]byte{}, fault.New(fault.Malformed, "upload_broken", "The upload was interrupted. Try "+
				"again.").
				Because(err)
		}
	}
}
