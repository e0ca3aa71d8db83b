package web_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"postern/handlers/web"
	"postern/platform/config"
)

func receive(t *testing.T, s *web.Site, body io.Reader) (*web.Upload, error) {
	t.Helper()
	return s.Receive(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/imports", nil), body)
}

// Uploads that come slowly keep no other from being worked on. Two of the complete uploads are processed at a time.
func TestSite_slowUploads(t *testing.T) {
	s := &web.Site{Config: config.Config{DataDir: t.TempDir()}}
	ended := make(chan error)
	var slow []*io.PipeWriter
	for range 10 {
		body, client := io.Pipe()
		slow = append(slow, client)
		go func() {
			upload, err := receive(t, s, body)
			if err == nil {
				err = upload.Close()
			}
			ended <- err
		}()
		if _, err := client.Write([]byte("PK")); err != nil {
			t.Fatal(err)
		}
	}
	var whole []*web.Upload
	for range 2 {
		upload, err := receive(t, s, bytes.NewReader(make([]byte, 1<<20)))
		if err != nil {
			t.Fatalf("during slow uploads: %v", err)
		}
		whole = append(whole, upload)
	}
	for _, client := range slow {
		_ = client.Close() // they are whole, and wait for a place
	}
	select {
	case err := <-ended:
		t.Fatalf("three are worked on at a time, or: %v", err)
	default:
	}
	for _, upload := range whole {
		if err := upload.Close(); err != nil {
			t.Error(err)
		}
	}
	for range slow {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
