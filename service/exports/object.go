package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
)

// bucketDraft is a Draft in a bucket: an upload that reads what is written.
//
// The end of caller ends what the upload reads, and not its requests: a server keeps a part
// that arrives after its upload was aborted, so that an upload is aborted once none is under way.
type bucketDraft struct {
	caller  context.Context
	upload  context.Context // of the requests
	stop    context.CancelFunc
	content *io.PipeWriter
	ended   chan struct{} // closed when no request is under way
	err     error         // of the upload, once it has ended
	bucket  *Bucket
	key     string
}

// newDraft begins an upload, which ends with Commit or Discard.
func (b *Bucket) newDraft(ctx context.Context, key string) *bucketDraft {
	upload, stop := context.WithCancel(context.WithoutCancel(ctx))
	reader, writer := io.Pipe()
	d := &bucketDraft{
		caller:  ctx,
		upload:  upload,
		stop:    stop,
		content: writer,
		ended:   make(chan struct{}),
		bucket:  b,
		key:     key,
	}
	context.AfterFunc(ctx, func() { _ = writer.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer close(d.ended)
		d.err = b.blobs.Upload(upload, key, reader, &blob.WriterOptions{
			BufferSize:     uploadPart,
			MaxConcurrency: uploadsAtOnce,
			ContentType:    "application/zip",
		})
		_ = reader.CloseWithError(d.err)
	}()
	return d
}

// Write implements io.Writer.
func (d *bucketDraft) Write(p []byte) (int, error) {
	n, err := d.content.Write(p)
	if err != nil && d.caller.Err() != nil {
		err = context.Cause(d.caller)
	}
	return n, down(err)
}

// Commit implements Draft.
func (d *bucketDraft) Commit() error {
	_ = d.content.Close() // has no effect once caller has ended
	select {
	case <-d.ended:
	case <-d.caller.Done():
	}
	d.stop()
	<-d.ended
	if d.err != nil {
		return fmt.Errorf("finish %s: %w", d.key, down(d.err))
	}
	return nil
}

// Discard implements Draft. What it cannot remove, because the bucket does not answer, the
// next attempt or Sweep removes.
func (d *bucketDraft) Discard() {
	_ = d.content.CloseWithError(errDiscarded)
	select {
	case <-d.ended:
	case <-time.After(discardIn):
	}
	d.stop()
	<-d.ended
	ctx, stop := context.WithTimeout(context.WithoutCancel(d.caller), discardIn)
	defer stop()
	_ = d.bucket.remove(ctx, d.key)
}

// errSilent ends a request of a download that brings nothing.
var errSilent = errors.New("nothing arrived in time")

// object reads a file of a bucket. Its request ends if nothing arrives for patience.
type object struct {
	body     *blob.Reader // with the context of the request, also after a Seek
	patience time.Duration
	request  context.Context
	end      context.CancelCauseFunc
	alarm    *time.Timer
}

// open makes the first request, so that a bucket that does not answer is known before an
// answer with the file begins. ctx belongs to the reader of the file.
func (b *Bucket) open(ctx context.Context, key string) (*object, error) {
	o := &object{patience: b.patience}
	o.request, o.end = context.WithCancelCause(ctx)
	o.alarm = time.AfterFunc(o.patience, func() { o.end(errSilent) })
	body, err := b.blobs.NewRangeReader(o.request, key, 0, -1, nil)
	o.alarm.Stop()
	if err != nil {
		defer o.end(nil)
		return nil, o.explain(err)
	}
	o.body = body
	return o, nil
}

// explain returns the error of a request, as errSilent if that has ended it.
func (o *object) explain(err error) error {
	if cause := context.Cause(o.request); errors.Is(cause, errSilent) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	o.alarm.Reset(o.patience)
	n, err := o.body.Read(p)
	o.alarm.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = down(o.explain(err))
	}
	return n, err
}

// Seek implements io.Seeker.
func (o *object) Seek(offset int64, whence int) (int64, error) { return o.body.Seek(offset, whence) }

// Close implements io.Closer.
func (o *object) Close() error {
	defer o.end(nil)
	return o.body.Close()
}
