package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"postern/platform/config"
)

const (
	// A zip is uploaded in parts of uploadPart bytes, of which uploadsAtOnce are in memory
	// and one more is filled. S3 takes 10,000 parts: zips of up to 80 GB.
	uploadPart    = 8 << 20
	uploadsAtOnce = 2

	silentFor   = time.Minute      // after which a connection that brings nothing counts as broken
	storeWithin = time.Minute      // for requests that move no content
	downloadIn  = 10 * time.Second // for the first byte of a download, and for each next one
	discardIn   = 10 * time.Second // for those under way of a discarded draft, and for its removal
)

// Bucket is a Store in an S3-compatible bucket. A file is an upload in several parts, which
// can be read only once it is completed. The operator chooses the bucket, so that its address
// is not checked as those of customers are.
type Bucket struct {
	name, prefix string
	patience     time.Duration // of downloads
	client       *s3.Client
	blobs        *blob.Bucket
	closeIdle    func()
}

// ErrRefused means that the settings of a bucket are wrong: its server answered and refused
// this one, or there are no credentials.
var ErrRefused = errors.New("refused")

// errDiscarded ends the content of a discarded draft.
var errDiscarded = errors.New("the draft was discarded")

// OpenBucket returns a Store in a bucket. It reads credentials from the AWS variables and
// files, and does not connect; Check does.
func OpenBucket(ctx context.Context, c config.Bucket) (*Bucket, error) {
	loaded, err := awsconfig.LoadDefaultConfig(
		ctx,
		awsconfig.WithHTTPClient(awshttp.NewBuildableClient().WithReadTimeout(silentFor)),
		awsconfig.WithLogger(logging.Nop{}), // it would write to standard error, in a form of its own
	)
	if err != nil {
		return nil, fmt.Errorf("read the AWS variables and files: %w", err)
	}
	switch {
	case c.Region != "":
		loaded.Region = c.Region
	case loaded.Region == "" && c.Endpoint != "":
		loaded.Region = "us-east-1" // what stores without regions expect
	case loaded.Region == "":
		return nil, errors.New("it has no region: add ?region=REGION or set AWS_REGION")
	}
	b := &Bucket{name: c.Name, prefix: c.Prefix, patience: downloadIn, closeIdle: func() {}}
	if client, ok := loaded.HTTPClient.(*awshttp.BuildableClient); ok {
		frozen := client.Freeze()
		loaded.HTTPClient = frozen
		if pool, ok := frozen.(*http.Client); ok {
			b.closeIdle = pool.CloseIdleConnections
		}
	}
	b.client = s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.UsePathStyle = c.PathStyle
		if c.Endpoint != "" {
			o.BaseEndpoint = aws.String(c.Endpoint)
		}
	})
	b.blobs, err = s3blob.OpenBucket(ctx, b.client, c.Name, &s3blob.Options{
		RequestChecksumCalculation: loaded.RequestChecksumCalculation,
	})
	return b, err
}

// Close closes idle connections.
func (b *Bucket) Close() error {
	err := b.blobs.Close()
	b.closeIdle()
	return err
}

// Check checks that the bucket answers and that this server may list it. Its error is an
// ErrRefused if the settings are wrong, and an ErrStoreDown if the bucket does not answer.
func (b *Bucket) Check(ctx context.Context) error {
	if _, err := b.client.Options().Credentials.Retrieve(ctx); err != nil {
		return fmt.Errorf("%w: there are no credentials: %w", ErrRefused, err)
	}
	one := aws.Int32(1)
	_, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket:  &b.name,
		Prefix:  &b.prefix,
		MaxKeys: one,
	})
	if err == nil {
		_, err = b.client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{
			Bucket:     &b.name,
			Prefix:     &b.prefix,
			MaxUploads: one,
		})
	}
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok &&
		answer.HTTPStatusCode() >= 300 && answer.HTTPStatusCode() < 500 {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return down(err)
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
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, down(err)
	}
	return o, nil
}

// Remove implements Store. Of a draft that is being written, a part may arrive after its
// upload was aborted; the draft's Discard or Sweep removes it.
func (b *Bucket) Remove(ctx context.Context, export string) error {
	return b.remove(ctx, b.prefix+prefixOf(export))
}

// remove removes what begins with prefix. Uploads come first: one that is completed
// meanwhile is an object then.
func (b *Bucket) remove(ctx context.Context, prefix string) error {
	ctx, stop := context.WithTimeout(ctx, storeWithin)
	defer stop()
	for upload, err := range b.uploads(ctx, prefix) {
		if err != nil {
			return err
		}
		_, err = b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
			Bucket:   &b.name,
			Key:      upload.Key,
			UploadId: upload.UploadId,
		})
		if refusal, ok := errors.AsType[smithy.APIError](err); ok && refusal.ErrorCode() == "NoSuchUpload" {
			continue // it has ended meanwhile
		}
		if err != nil {
			return down(err)
		}
	}
	for object, err := range b.objects(ctx, prefix) {
		if err != nil {
			return err
		}
		if err := b.blobs.Delete(ctx, object.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
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
			if !pass(object.Key, object.ModTime, err) {
				return
			}
		}
		for upload, err := range b.uploads(ctx, prefix) {
			if !pass(aws.ToString(upload.Key), aws.ToTime(upload.Initiated), err) {
				return
			}
		}
	}
}

// objects lists the files that begin with prefix.
func (b *Bucket) objects(ctx context.Context, prefix string) iter.Seq2[blob.ListObject, error] {
	return func(yield func(blob.ListObject, error) bool) {
		pages := b.blobs.List(&blob.ListOptions{Prefix: prefix})
		for {
			object, err := pages.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(blob.ListObject{}, down(err))
				return
			}
			if !yield(*object, nil) {
				return
			}
		}
	}
}

// uploads lists the uploads to files that begin with prefix.
func (b *Bucket) uploads(ctx context.Context, prefix string) iter.Seq2[types.MultipartUpload, error] {
	return func(yield func(types.MultipartUpload, error) bool) {
		ask := s3.ListMultipartUploadsInput{Bucket: &b.name, Prefix: &prefix}
		for {
			page, err := b.client.ListMultipartUploads(ctx, &ask)
			if err != nil {
				yield(types.MultipartUpload{}, down(err))
				return
			}
			for _, upload := range page.Uploads {
				if !yield(upload, nil) {
					return
				}
			}
			if !aws.ToBool(page.IsTruncated) || aws.ToString(page.NextKeyMarker) == "" {
				return
			}
			ask.KeyMarker, ask.UploadIdMarker = page.NextKeyMarker, page.NextUploadIdMarker
		}
	}
}
