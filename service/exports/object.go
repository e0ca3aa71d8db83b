package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"
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
		d.err = b.upload(upload, key, reader)
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

// Discard implements Draft. If the bucket does not answer, the next attempt or Sweep removes the rest.
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

// errSilent ends a request of a download that gets no data.
var errSilent = errors.New("no data arrived in time")

// object reads a file of a bucket. Its request ends if nothing arrives for patience.
type object struct {
	bucket   *Bucket
	key      string
	body     io.ReadCloser // from at on; nil after a Seek
	size, at int64
	request  context.Context // of all requests
	end      context.CancelCauseFunc
	alarm    *time.Timer
}

// open sends the first request, so that a bucket that does not answer is known before an answer with the file begins.
// ctx belongs to the reader of the file.
func (b *Bucket) open(ctx context.Context, key string) (*object, error) {
	o := &object{bucket: b, key: key}
	o.request, o.end = context.WithCancelCause(ctx)
	o.alarm = time.AfterFunc(b.patience, func() { o.end(errSilent) })
	info, err := o.ask()
	o.alarm.Stop()
	if err == nil && info.Size < 0 {
		err = errors.New("the storage didn't send the length of the file")
	}
	if err != nil {
		defer o.end(nil)
		return nil, o.explain(err)
	}
	o.size = info.Size
	return o, nil
}

// ask requests the file from at on.
func (o *object) ask() (minio.ObjectInfo, error) {
	var options minio.GetObjectOptions
	if o.at > 0 {
		if err := options.SetRange(o.at, 0); err != nil {
			return minio.ObjectInfo{}, err
		}
	}
	body, info, _, err := o.bucket.client.GetObject(o.request, o.bucket.name, o.key, options)
	o.body = body
	return info, err
}

// explain returns the error of a request, as errSilent if that has ended it.
func (o *object) explain(err error) error {
	if cause := context.Cause(o.request); errors.Is(cause, errSilent) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (n int, err error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	o.alarm.Reset(o.bucket.patience)
	defer o.alarm.Stop()
	if o.body == nil {
		_, err = o.ask()
	}
	if err == nil {
		n, err = o.body.Read(p)
		o.at += int64(n)
	}
	if err == nil || errors.Is(err, io.EOF) && o.at == o.size {
		return n, err
	}
	return n, down(o.explain(err))
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
		return 0, fmt.Errorf("seek %s: %d is before its beginning", o.key, offset)
	}
	if offset != o.at {
		o.closeBody()
		o.at = offset
	}
	return offset, nil
}

func (o *object) closeBody() {
	if o.body != nil {
		_ = o.body.Close()
		o.body = nil
	}
}

// Close implements io.Closer.
func (o *object) Close() error {
	o.closeBody()
	o.end(nil)
	return nil
}
