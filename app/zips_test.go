package app_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"postern/app"
	"postern/platform/config"
	"postern/testkit"
	"postern/testkit/servers"
)

func bucketSettings(t *testing.T, server *servers.S3) config.Config {
	t.Helper()
	c := settings(t.TempDir(), "")
	c.Blob.Bucket = config.Bucket{Name: servers.S3Bucket, Endpoint: server.Endpoint(), PathStyle: true}
	return c
}

func TestNew_refusingBucket(t *testing.T) {
	servers.SetS3Environ(t)
	server := servers.StartS3(t)
	t.Run("no such bucket", func(t *testing.T) {
		c := bucketSettings(t, server)
		c.Blob.Bucket.Name = "other"
		if says := refused(t, c); !strings.Contains(says, "bucket other") || !strings.Contains(says, "--blob-url") {
			t.Errorf("got %q", says)
		}
	})
	t.Run("wrong secret", func(t *testing.T) {
		t.Setenv("AWS_SECRET_ACCESS_KEY", "canary-secret")
		says := refused(t, bucketSettings(t, server))
		if !strings.Contains(says, "AWS_SECRET_ACCESS_KEY") || strings.Contains(says, "canary") {
			t.Errorf("got %q", says)
		}
	})
	t.Run("no region", func(t *testing.T) {
		c := bucketSettings(t, server)
		c.Blob.Bucket.Endpoint = ""
		if says := refused(t, c); !strings.Contains(says, "AWS_REGION") || !strings.Contains(says, "--blob-url") {
			t.Errorf("got %q", says)
		}
	})
}

// A server whose bucket does not answer starts, since calls do not need it, and says so.
func TestNew_bucketDown(t *testing.T) {
	servers.SetS3Environ(t)
	server := servers.StartS3(t)
	server.Down()
	var log testkit.LogBuffer
	a, err := app.New(t.Context(), bucketSettings(t, server), "test", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	during(t, a, func(browser *http.Client) {
		if status, body := get(t, browser, a.Config.PublicURL+"/readyz"); status != http.StatusOK {
			t.Errorf("/readyz: %d %s", status, body)
		}
	})
	if !strings.Contains(log.String(), "export storage isn't responding") {
		t.Errorf("the log does not say it:\n%s", log.String())
	}
	if strings.Contains(log.String(), servers.S3SecretKey) {
		t.Error("the log shows the secret")
	}
}
