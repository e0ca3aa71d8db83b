package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"postern/platform/config"
	"postern/platform/traces"
	"postern/service/exports"
)

// openZips returns the export storage. It does not connect to a bucket.
func openZips(ctx context.Context, c config.Config) (exports.Store, error) {
	if !c.Blob.Bucket.IsSet() {
		return exports.Dir(c.ExportDir()), nil
	}
	bucket, err := exports.OpenBucket(ctx, c.Blob.Bucket)
	if err != nil {
		return nil, fmt.Errorf("cannot open the bucket of --blob-url or POSTERN_BLOB_URL: %w", oneLineError{err})
	}
	return bucket, nil
}

// tracedZips returns the export storage, with spans if anything is traced.
func tracedZips(store exports.Store, tracer *traces.Tracer) exports.Store {
	if tracer == nil {
		return store
	}
	return exports.Traced(store)
}

// checkBucketWithin bounds how long a bucket that does not answer delays the start.
const checkBucketWithin = 5 * time.Second

// checkZips refuses a bucket that this server may not use. A bucket that does not answer is
// logged: calls are served in the meantime, and exports once it answers.
func (a *App) checkZips(ctx context.Context) error {
	bucket, ok := a.zips.(*exports.Bucket)
	if !ok || a.onlyGateway() {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, checkBucketWithin)
	defer stop()
	err := bucket.Check(ctx)
	if errors.Is(err, exports.ErrRefused) {
		return fmt.Errorf("cannot use the bucket %s (%w): check that the bucket exists, and check --blob-url "+
			"or POSTERN_BLOB_URL and the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
			a.Config.Blob.Bucket.Name, oneLineError{err})
	}
	if err != nil {
		a.log.Error("the export storage doesn't respond; exports wait until it does: check --blob-url or "+
			"POSTERN_BLOB_URL", "bucket", a.Config.Blob.Bucket.Name, "error", err)
	}
	return nil
}

func (a *App) closeZips() error {
	if bucket, ok := a.zips.(io.Closer); ok {
		return bucket.Close()
	}
	return nil
}
