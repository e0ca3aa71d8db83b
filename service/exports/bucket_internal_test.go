package exports

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"postern/platform/config"
	"postern/testkit/servers"
)

// A bucket that answers and then brings nothing ends a download with an error: before the
// first byte, and in the middle.
func TestBucket_hanging(t *testing.T) {
	const size = 1 << 20
	for _, tt := range []struct {
		name   string
		brings int // bytes, of size; -1: not even an answer
	}{
		{"before the answer", -1},
		{"before the first byte", 0},
		{"in the middle", size / 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			servers.SetS3Environ(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tt.brings >= 0 {
					w.Header().Set("Content-Length", "1048576")
					w.Header().Set("Last-Modified", "Tue, 03 Mar 2026 10:00:00 GMT")
					_, _ = w.Write(bytes.Repeat([]byte("x"), tt.brings))
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			}))
			defer server.Close()
			bucket, err := OpenBucket(t.Context(), config.Bucket{
				Name: "zips", Endpoint: server.URL, Region: "eu-central-1", PathStyle: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer bucket.Close()
			if bucket.patience != downloadIn {
				t.Errorf("downloads wait for %s, want %s", bucket.patience, downloadIn)
			}
			bucket.patience = 50 * time.Millisecond
			ctx, stop := context.WithTimeout(t.Context(), time.Minute) // as long as a test may hang
			defer stop()
			file, err := bucket.Open(ctx, Attempt{Export: "exp_1", Lease: "lse_1"})
			if err == nil {
				defer file.Close()
				var n int64
				if n, err = io.Copy(io.Discard, file); n != int64(tt.brings) {
					t.Errorf("read %d bytes, want %d", n, tt.brings)
				}
			}
			if !errors.Is(err, ErrStoreDown) || !errors.Is(err, errSilent) || (file == nil) != (tt.brings < 0) {
				t.Errorf("got %v, file %v", err, file != nil)
			}
		})
	}
}
