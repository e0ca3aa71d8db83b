package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// object reads a file of a bucket, from where it was last moved to. It connects at the first
// Read, so that moving to the end, which is how http.ServeContent learns the size, is free.
// ctx belongs to the request that reads.
type object struct {
	ctx   context.Context
	blobs *blob.Bucket
	key   string
	size  int64
	at    int64
	body  io.ReadCloser // that continues at at; nil: not connected
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	if o.body == nil {
		body, err := o.blobs.NewRangeReader(o.ctx, o.key, o.at, -1, nil)
		if err != nil {
			return 0, down(err)
		}
		o.body = body
	}
	n, err := o.body.Read(p)
	o.at += int64(n)
	if errors.Is(err, io.EOF) && o.at < o.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek implements io.Seeker.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	if offset == o.at {
		return offset, nil
	}
	err := o.Close()
	o.at = offset
	return offset, err
}

// Close implements io.Closer.
func (o *object) Close() error {
	if o.body == nil {
		return nil
	}
	err := o.body.Close()
	o.body = nil
	return err
}
