package api_test

import (
	"io"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"
	"testing"

	"postern/handlers"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// newDownload returns the path of a finished export, and its zip.
func newDownload(t *testing.T, s *handlers.Server, shop controlplane.Shop) (path, zip string) {
	t.Helper()
	h := s.Handler()
	queued := controlplane.Call(t, h, "POST", "/api/v1/projects/shop/exports", shop.Token, `{"format":"data"}`)
	id, _ := queued.Body["id"].(string)
	if err := s.Exports.Build(t.Context(), id, true); err != nil {
		t.Fatalf("%s: %v", queued.Raw, err)
	}
	path = "/api/v1/exports/" + id + "/download"
	whole := controlplane.Call(t, h, "GET", path, shop.Token, "")
	if whole.Status != 200 || whole.Header.Get("Accept-Ranges") != "bytes" {
		t.Fatalf("the whole zip: %d %v", whole.Status, whole.Header)
	}
	return path, whole.Raw
}

// A broken download is resumed with Range and If-Range (RFC 9110, section 14).
func TestDownload_ranges(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	h := s.Handler()
	shop := controlplane.CreateShop(t, h)
	path, zip := newDownload(t, s, shop)
	whole := controlplane.Call(t, h, "GET", path, shop.Token, "")
	etag, wrote := whole.Header.Get("ETag"), whole.Header.Get("Last-Modified")
	size := strconv.Itoa(len(zip))
	for _, tt := range []struct {
		name   string
		header []string
		status int
		body   string
		ranges string
	}{
		{"first bytes", []string{"Range", "bytes=0-99"}, 206, zip[:100], "bytes 0-99/" + size},
		{
			"rest", []string{"Range", "bytes=100-"}, 206, zip[100:],
			"bytes 100-" + strconv.Itoa(len(zip)-1) + "/" + size,
		},
		{"last bytes", []string{"Range", "bytes=-7"}, 206, zip[len(zip)-7:],
			"bytes " + strconv.Itoa(len(zip)-7) + "-" + strconv.Itoa(len(zip)-1) + "/" + size},
		{"same zip", []string{"Range", "bytes=0-9", "If-Range", etag}, 206, zip[:10], "bytes 0-9/" + size},
		{"same time", []string{"Range", "bytes=0-9", "If-Range", wrote}, 206, zip[:10], "bytes 0-9/" + size},
		{"another zip", []string{"Range", "bytes=0-9", "If-Range", `"other"`}, 200, zip, ""},
		{"have it", []string{"If-None-Match", etag}, 304, "", ""},
		{"have another", []string{"If-None-Match", `"other"`}, 200, zip, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := controlplane.Call(t, h, "GET", path, shop.Token, "", tt.header...)
			if got.Status != tt.status || got.Header.Get("Content-Range") != tt.ranges {
				t.Errorf("%d, Content-Range %q, want %d and %q", got.Status, got.Header.Get("Content-Range"),
					tt.status, tt.ranges)
			}
			if got.Raw != tt.body {
				t.Errorf("%d bytes that differ from the %d expected ones", len(got.Raw), len(tt.body))
			}
		})
	}
	after := controlplane.Call(t, h, "GET", path, shop.Token, "", "Range", "bytes="+size+"-")
	if after.Status != 416 || after.Header.Get("Content-Range") != "bytes */"+size {
		t.Errorf("a range after the end: %d, Content-Range %q", after.Status, after.Header.Get("Content-Range"))
	}
}

func TestDownload_severalRanges(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	shop := controlplane.CreateShop(t, s.Handler())
	path, zip := newDownload(t, s, shop)
	got := controlplane.Call(t, s.Handler(), "GET", path, shop.Token, "", "Range", "bytes=10-19, 30-39")
	kind, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if got.Status != 206 || kind != "multipart/byteranges" || err != nil {
		t.Fatalf("%d %q, %v", got.Status, got.Header.Get("Content-Type"), err)
	}
	parts := multipart.NewReader(strings.NewReader(got.Raw), params["boundary"])
	for _, want := range []string{zip[10:20], zip[30:40]} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(part); string(text) != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", part.Header.Get("Content-Range"), text, err, want)
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("after the last range: %v", err)
	}
}
