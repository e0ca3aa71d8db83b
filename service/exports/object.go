package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"gocloud.dev/blob"
)

// bucketDraft is a Draft in a bucket. ctx belongs to the upload, which ends with it.
type bucketDraft struct {
	ctx    context.Context
	stop   context.CancelFunc
	writer *blob.Writer
	closed bool // writer panics if it is closed twice
	bucket *Bucket
	key    string
}

// Write implements io.Writer.
func (d *bucketDraft) Write(p []byte) (int, error) {
	n, err := d.writer.Write(p)
	return n, down(err)
}

// Commit implements Draft.
func (d *bucketDraft) Commit() error {
	defer d.stop()
	d.closed = true
	if err := d.writer.Close(); err != nil {
		return fmt.Errorf("finish %s: %w", d.key, down(err))
	}
	return nil
}

// Discard implements Draft. What it cannot remove, because the bucket does not answer, the
// next attempt or Sweep removes.
func (d *bucketDraft) Discard() {
	d.stop()
	if !d.closed {
		d.closed = true
		_ = d.writer.Close() // ends the upload without completing it, since ctx has ended
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(d.ctx), discardIn)
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
