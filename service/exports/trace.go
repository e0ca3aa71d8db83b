package exports

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"

	"postern/platform/traces"
)

// Traced returns a Store that records the operations of store as child spans of the context's span: writing a file from
// its creation to its end, and reading it until it is closed. The spans don't contain file names.
func Traced(store Store) Store {
	t := tracedStore{Store: store, kind: traces.Internal, name: "directory"}
	if _, remote := store.(*Bucket); remote {
		t.kind, t.name = traces.Client, "bucket"
	}
	return t
}

type tracedStore struct {
	Store

	kind traces.Kind
	name string
}

func (s tracedStore) begin(ctx context.Context, operation string) (context.Context, *traces.Span) {
	ctx, span := traces.Start(ctx, s.kind, "store "+operation)
	span.Set(traces.String("postern.store", s.name))
	return ctx, span
}

func end(span *traces.Span, err error) {
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		span.Fail("not_found")
	case errors.Is(err, ErrStoreDown):
		span.Fail("store_down")
	default:
		span.Fail(traces.ErrorType(err))
	}
	span.End()
}

// Create implements Store.
func (s tracedStore) Create(ctx context.Context, a Attempt) (Draft, error) {
	ctx, span := s.begin(ctx, "write")
	draft, err := s.Store.Create(ctx, a)
	if err != nil || span == nil {
		end(span, err)
		return draft, err
	}
	return tracedDraft{draft, span}, nil
}

// tracedDraft ends its span with the file. A span that has ended stays unchanged.
type tracedDraft struct {
	Draft

	span *traces.Span
}

// Commit implements Draft.
func (d tracedDraft) Commit() error {
	err := d.Draft.Commit()
	end(d.span, err)
	return err
}

// Discard implements Draft.
func (d tracedDraft) Discard() {
	d.Draft.Discard()
	d.span.Set(traces.String("postern.outcome", "discarded"))
	d.span.End()
}

// Open implements Store.
func (s tracedStore) Open(ctx context.Context, a Attempt) (io.ReadSeekCloser, error) {
	ctx, span := s.begin(ctx, "read")
	content, err := s.Store.Open(ctx, a)
	if err != nil || span == nil {
		end(span, err)
		return content, err
	}
	return tracedContent{content, span}, nil
}

type tracedContent struct {
	io.ReadSeekCloser

	span *traces.Span
}

// Read implements io.Reader.
func (c tracedContent) Read(p []byte) (int, error) {
	n, err := c.ReadSeekCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		end(c.span, err)
	}
	return n, err
}

// Close implements io.Closer.
func (c tracedContent) Close() error {
	err := c.ReadSeekCloser.Close()
	end(c.span, err)
	return err
}

// Remove implements Store.
func (s tracedStore) Remove(ctx context.Context, export string) error {
	ctx, span := s.begin(ctx, "remove")
	err := s.Store.Remove(ctx, export)
	end(span, err)
	return err
}

// List implements Store. The span includes the time of its caller.
func (s tracedStore) List(ctx context.Context) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		ctx, span := s.begin(ctx, "list")
		var failed error
		defer func() { end(span, failed) }()
		for file, err := range s.Store.List(ctx) {
			if err != nil {
				failed = err
			}
			if !yield(file, err) {
				return
			}
		}
	}
}
