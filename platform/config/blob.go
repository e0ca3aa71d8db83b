package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Blob says where the zips of exports are kept: in Bucket if it is set, otherwise in Dir, or
// below the data directory if Dir is empty too.
type Blob struct {
	Dir    string
	Bucket Bucket
}

// Bucket is a bucket of an S3-compatible store. The zero value means none. Its credentials are not part of it: they
// come from the AWS variables and files.
type Bucket struct {
	Name      string
	Prefix    string // of the names of objects, with a slash at its end, or ""
	Region    string // "" for that of the AWS variables and files
	Endpoint  string // http or https URL, "" for that of Amazon S3
	PathStyle bool   // the bucket is in the path of requests, and not in the host
}

// IsSet reports whether there is a bucket.
func (b Bucket) IsSet() bool { return b.Name != "" }

func blobSetting() setting {
	return setting{
		"blob-url",
		"",
		"export storage: s3://BUCKET?region=REGION, with &endpoint=https://HOST for other S3-compatible storage, or " +
			"file:///DIRECTORY; credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; empty means the " +
			"exports folder in the data directory",
		assignBlob,
	}
}

// assignBlob parses a URL. Its errors do not quote it, because it may have a secret that
// does not belong there.
func assignBlob(c *Config, raw string) (err error) {
	if raw == "" {
		c.Blob = Blob{}
		return nil
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("must be a URL such as s3://bucket?region=eu-central-1")
	case u.User != nil:
		return errInlineCredentials
	case u.Scheme == "file":
		c.Blob.Dir, err = blobDirectory(u)
	case u.Scheme == "s3":
		c.Blob.Bucket, err = blobBucket(u)
	default:
		err = errors.New("the scheme must be s3 or file, as in s3://bucket?region=eu-central-1 or " +
			"file:///var/lib/postern/exports")
	}
	return err
}

var errInlineCredentials = errors.New("leave credentials out of the URL: set AWS_ACCESS_KEY_ID and " +
	"AWS_SECRET_ACCESS_KEY")

func blobDirectory(u *url.URL) (string, error) {
	dir := filepath.FromSlash(u.Path)
	if (u.Host != "" && u.Host != "localhost") || !filepath.IsAbs(dir) || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("use three slashes and no parameters for a directory, as in " +
			"file:///var/lib/postern/exports")
	}
	return filepath.Clean(dir), nil
}

var (
	bucketName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)
	bucketPrefix = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)
	bucketRegion = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
)

var bucketParameters = []string{"region", "endpoint", "use_path_style", "prefix"}

func blobBucket(u *url.URL) (Bucket, error) {
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" {
		return Bucket{}, errors.New("the parameters after ? can't be read: use name=value, separated by &")
	}
	for name, values := range q {
		if !slices.Contains(bucketParameters, name) || len(values) != 1 {
			return Bucket{}, fmt.Errorf("an s3 URL can have only the parameters %s, at most once each",
				strings.Join(bucketParameters, ", "))
		}
	}
	b := Bucket{
		Name:     u.Host,
		Prefix:   strings.TrimRight(q.Get("prefix"), "/"),
		Region:   q.Get("region"),
		Endpoint: strings.TrimRight(q.Get("endpoint"), "/"),
	}
	switch {
	case !bucketName.MatchString(b.Name):
		return Bucket{}, errors.New("the name of the bucket must be 3 to 63 letters, digits, dots, hyphens or " +
			"underscores, right after s3://")
	case strings.Trim(u.Path, "/") != "":
		return Bucket{}, errors.New("use prefix= for a folder in the bucket, not a path after the bucket's name")
	case b.Prefix != "" && (!bucketPrefix.MatchString(b.Prefix) || strings.Contains(b.Prefix, "..")):
		return Bucket{}, errors.New("prefix must be letters, digits, dots, hyphens, underscores and slashes, and " +
			"start with a letter or digit")
	case b.Region != "" && !bucketRegion.MatchString(b.Region):
		return Bucket{}, errors.New("region must be a region such as eu-central-1")
	}
	if b.Prefix != "" {
		b.Prefix += "/"
	}
	if err := checkEndpoint(b.Endpoint); err != nil {
		return Bucket{}, err
	}
	b.PathStyle = b.Endpoint != ""
	if style := q.Get("use_path_style"); style != "" {
		if b.PathStyle, err = strconv.ParseBool(style); err != nil {
			return Bucket{}, errors.New("use_path_style must be true or false")
		}
	}
	return b, nil
}

func checkEndpoint(raw string) error {
	if raw == "" {
		return nil
	}
	u, err := url.Parse(raw)
	switch {
	case err == nil && u.User != nil:
		return errInlineCredentials
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "", u.Path != "", u.RawQuery != "",
		u.Fragment != "":
		return errors.New("endpoint must be a URL such as https://s3.example.com")
	}
	return nil
}
