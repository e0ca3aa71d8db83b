package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/platform/config"
)

func TestBlobURL(t *testing.T) {
	for _, tt := range []struct {
		url  string
		want config.Blob
	}{
		{"", config.Blob{}},
		{"file:///var/lib/postern/zips/", config.Blob{Dir: "/var/lib/postern/zips"}},
		{"file://localhost/zips", config.Blob{Dir: "/zips"}},
		{"s3://zips", config.Blob{Bucket: config.Bucket{Name: "zips"}}},
		{
			"s3://zips?region=eu-central-1&prefix=postern/a/",
			config.Blob{Bucket: config.Bucket{Name: "zips", Region: "eu-central-1", Prefix: "postern/a/"}},
		},
		{
			"s3://my.zips/?endpoint=https://s3.example.com:9000/&prefix=a",
			config.Blob{Bucket: config.Bucket{
				Name:      "my.zips",
				Prefix:    "a/",
				Endpoint:  "https://s3.example.com:9000",
				PathStyle: true,
			}},
		},
		{
			"s3://zips?endpoint=https%3A%2F%2Fs3.example.com&use_path_style=false",
			config.Blob{Bucket: config.Bucket{Name: "zips", Endpoint: "https://s3.example.com"}},
		},
	} {
		c, err := load(t, []string{"POSTERN_BLOB_URL=" + tt.url})
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
		}
		if diff := cmp.Diff(tt.want, c.Blob); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.url, diff)
		}
	}
	c, err := load(t, nil, "--data-dir", "/data", "--blob-url", "s3://zips")
	if want := filepath.Join("/data", "exports"); err != nil || c.ExportDir() != want {
		t.Errorf("directory %s, %v, want %s", c.ExportDir(), err, want)
	}
	if c, err = load(t, nil, "--blob-url", "file:///zips"); err != nil || c.ExportDir() != "/zips" {
		t.Errorf("directory %s, %v, want /zips", c.ExportDir(), err)
	}
}

// A refusal says what is wrong without the URL, which may have a secret that does not belong
// there.
func TestBlobURL_refused(t *testing.T) {
	for url, says := range map[string]string{
		"gs://canary":                                   "scheme must be s3 or file",
		"canary":                                        "scheme must be s3 or file",
		"://canary":                                     "must be a URL",
		"file:canary":                                   "three slashes",
		"file://canary/zips":                            "three slashes",
		"file:///zips?canary=1":                         "three slashes",
		"s3://":                                         "name of the bucket",
		"s3://?prefix=canary":                           "name of the bucket",
		"s3://canary:80":                                "name of the bucket",
		"s3://key:canary@zips":                          "leave credentials out",
		"s3://zips/canary":                              "prefix=",
		"s3://zips?secret_access_key=canary":            "only the parameters region, endpoint",
		"s3://zips?canary":                              "only the parameters region, endpoint",
		"s3://zips?region=a&region=canary":              "at most once each",
		"s3://zips?region=canary/":                      "region must be",
		"s3://zips?prefix=/canary":                      "prefix must be",
		"s3://zips?prefix=canary/../..":                 "prefix must be",
		"s3://zips?endpoint=canary:9000":                "endpoint must be",
		"s3://zips?endpoint=ftp://canary":               "endpoint must be",
		"s3://zips?endpoint=http://k:canary@s3.test":    "leave credentials out",
		"s3://zips?endpoint=http://s3.test/canary":      "endpoint must be",
		"s3://zips?endpoint=http://s3.test%3Fcanary":    "endpoint must be",
		"s3://zips?use_path_style=canary":               "true or false",
		"s3://zips?region=eu;canary":                    "can't be read",
		"s3://zips?region=eu-central-1#canary":          "can't be read",
		"s3://zips?region=eu-central-1&prefix=%zzcanar": "can't be read",
	} {
		_, err := load(t, nil, "--blob-url", url)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--blob-url") {
			t.Errorf("%s: %v, want that it says %q", url, err, says)
			continue
		}
		if strings.Contains(err.Error(), "canar") {
			t.Errorf("%s: the error quotes the URL: %v", url, err)
		}
	}
}
