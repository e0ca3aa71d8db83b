package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"postern/platform/config"
)

const (
	// A zip is uploaded in parts of uploadPart bytes, of which partsInMemory are filled or on
	// their way. S3 takes 10,000 parts: zips of up to 80 GB.
	uploadPart    = 8 << 20
	partsInMemory = 3

	silentFor   = time.Minute      // after which a connection without data counts as broken
	storeWithin = time.Minute      // for requests that move no content
	downloadIn  = 10 * time.Second // for the first byte of a download, and for each next one
	discardIn   = 10 * time.Second // for those under way of a discarded draft, and for its removal
)

// Bucket is a Store in an S3-compatible bucket. A file is a multipart upload, which can be read only once it is
// completed. The operator chooses the bucket, so its address isn't restricted like those of customers.
type Bucket struct {
	name, prefix string
	patience     time.Duration // of downloads
	client       minio.Core
	credentials  *credentials.Credentials
	closeIdle    func()
}

// ErrRefused means that the settings of a bucket are wrong: the bucket's server refused a request, or no credentials
// were found.
var ErrRefused = errors.New("refused")

// errDiscarded ends the content of a discarded draft.
var errDiscarded = errors.New("the draft was discarded")

// OpenBucket returns a Store in a bucket. It reads credentials from the AWS variables and
// files, and does not connect; Check does.
func OpenBucket(_ context.Context, c config.Bucket) (*Bucket, error) {
	region, endpoint, err := whereabouts(c)
	if err != nil {
		return nil, err
	}
	transport, err := awsTransport()
	if err != nil {
		return nil, err
	}
	b := &Bucket{
		name:        c.Name,
		prefix:      c.Prefix,
		patience:    downloadIn,
		credentials: awsCredentials(),
		closeIdle:   transport.CloseIdleConnections,
	}
	lookup := minio.BucketLookupDNS
	if c.PathStyle {
		lookup = minio.BucketLookupPath
	}
	b.client.Client, err = minio.New(endpoint.Host, &minio.Options{
		Creds:        b.credentials,
		Secure:       endpoint.Scheme == "https",
		Transport:    transport,
		Region:       region,
		BucketLookup: lookup,
		MaxRetries:   awsAttempts(),
	})
	if err != nil {
		return nil, err
	}
	b.client.SetS3EnableDualstack(false)
	return b, nil
}

// whereabouts returns the region of a bucket and the address of its store.
func whereabouts(c config.Bucket) (region string, endpoint *url.URL, err error) {
	if region = c.Region; region == "" {
		if region, err = awsRegion(); err != nil {
			return "", nil, err
		}
	}
	if c.Endpoint == "" {
		if region == "" {
			return "", nil, errors.New("it has no region: add ?region=REGION or set AWS_REGION")
		}
		return region, &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}, nil // the host of the region follows
	}
	if region == "" {
		region = "us-east-1" // what stores without regions expect
	}
	endpoint, err = url.Parse(c.Endpoint)
	return region, endpoint, err
}

// Close closes idle connections.
func (b *Bucket) Close() error {
	b.closeIdle()
	return nil
}

// Check checks that the bucket responds and that this server may list it. Its error is an ErrRefused if the settings
// are wrong, and an ErrStoreDown if the bucket doesn't respond.
func (b *Bucket) Check(ctx context.Context) error {
	if _, err := b.credentials.GetWithContext(&credentials.CredContext{Context: ctx}); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	var err error
	for object := range b.client.ListObjectsIter(ctx, b.name, b.list(b.prefix, 1)) {
		err = object.Err
		break
	}
	if err == nil {
		_, err = b.client.ListMultipartUploads(ctx, b.name, b.prefix, "", "", "", 1)
	}
	if status := statusOf(err); status >= 300 && status < 500 {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return down(err)
}

// list returns the objects that begin with prefix, in pages of most; 0: as many as the store chooses.
func (*Bucket) list(prefix string, most int) minio.ListObjectsOptions {
	return minio.ListObjectsOptions{Prefix: prefix, Recursive: true, MaxKeys: most}
}

// statusOf returns the status of the answer that err reports, and 0 for other errors.
func statusOf(err error) int {
	answer, _ := errors.AsType[minio.ErrorResponse](err)
	return answer.StatusCode
}

// down returns err as an ErrStoreDown, and nil for nil.
func down(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrStoreDown, err)
}

// Create implements Store.
func (b *Bucket) Create(ctx context.Context, a Attempt) (Draft, error) {
	if err := b.Remove(ctx, a.Export); err != nil {
		return nil, fmt.Errorf("remove earlier attempts at export %s: %w", a.Export, err)
	}
	return b.newDraft(ctx, b.prefix+a.name()), nil
}

// Open implements Store.
func (b *Bucket) Open(ctx context.Context, a Attempt) (io.ReadSeekCloser, error) {
	o, err := b.open(ctx, b.prefix+a.name())
	if statusOf(err) == http.StatusNotFound {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, down(err)
	}
	return o, nil
}

// Remove implements Store. A part of a draft may arrive after its upload was aborted; the draft's Discard or Sweep
// removes it.
func (b *Bucket) Remove(ctx context.Context, export string) error {
	return b.remove(ctx, b.prefix+prefixOf(export))
}

// remove removes what begins with prefix. Uploads come first: one that completes
// in between has become an object.
func (b *Bucket) remove(ctx context.Context, prefix string) error {
	ctx, stop := context.WithTimeout(ctx, storeWithin)
	defer stop()
	for upload, err := range b.uploads(ctx, prefix) {
		if err != nil {
			return err
		}
		err = b.client.AbortMultipartUpload(ctx, b.name, upload.Key, upload.UploadID)
		if err != nil && statusOf(err) != http.StatusNotFound { // it may have ended since it was listed
			return down(err)
		}
	}
	for object, err := range b.objects(ctx, prefix) {
		if err != nil {
			return err
		}
		err = b.client.RemoveObject(ctx, b.name, object.Key, minio.RemoveObjectOptions{})
		if err != nil && statusOf(err) != http.StatusNotFound {
			return down(err)
		}
	}
	return nil
}

// List implements Store.
func (b *Bucket) List(ctx context.Context) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		pass := func(key string, at time.Time, err error) bool {
			export, ok := exportOf(strings.TrimPrefix(key, b.prefix))
			if err == nil && !ok {
				return true
			}
			return yield(Stored{Export: export, WrittenAt: at}, err) && err == nil
		}
		prefix := b.prefix + exportPrefix
		for object, err := range b.objects(ctx, prefix) {
			if !pass(object.Key, object.LastModified, err) {
				return
			}
		}
		for upload, err := range b.uploads(ctx, prefix) {
			if !pass(upload.Key, upload.Initiated, err) {
				return
			}
		}
	}
}

// objects lists the files that begin with prefix.
func (b *Bucket) objects(ctx context.Context, prefix string) iter.Seq2[minio.ObjectInfo, error] {
	return func(yield func(minio.ObjectInfo, error) bool) {
		for object := range b.client.ListObjectsIter(ctx, b.name, b.list(prefix, 0)) {
			if !yield(object, down(object.Err)) || object.Err != nil {
				return
			}
		}
	}
}

// uploads lists the uploads to files that begin with prefix.
func (b *Bucket) uploads(ctx context.Context, prefix string) iter.Seq2[minio.ObjectMultipartInfo, error] {
	return func(yield func(minio.ObjectMultipartInfo, error) bool) {
		key, id := "", ""
		for {
			page, err := b.client.ListMultipartUploads(ctx, b.name, prefix, key, id, "", 0)
			if err != nil {
				yield(minio.ObjectMultipartInfo{}, down(err))
				return
			}
			for _, upload := range page.Uploads {
				if !yield(upload, nil) {
					return
				}
			}
			if !page.IsTruncated || page.NextKeyMarker == "" {
				return
			}
			key, id = page.NextKeyMarker, page.NextUploadIDMarker
		}
	}
}
