package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"postern/core/contract"
	"postern/platform/fault"
)

// Pauses between polls of a client that has no stream: short at first, since most exports are
// ready at once, then longer.
const (
	firstPoll = 200 * time.Millisecond
	lastPoll  = time.Second
)

// WaitExport waits until the export is ready, and calls progress, which may be nil, with each
// response. It follows the server's stream of events, and polls where there is none, such as
// behind a proxy that holds it back. It returns a fault of kind Conflict if the export ends in
// another state.
func (c *Client) WaitExport(ctx context.Context, id string, progress func(contract.Export)) (contract.Export, error) {
	if progress == nil {
		progress = func(contract.Export) {}
	}
	if e, ended := c.followExport(ctx, id, progress); ended {
		return e, unready(e)
	}
	for pause := firstPoll; ; pause = min(pause*3/2, lastPoll) {
		e, err := Do(ctx, c, contract.GetExport, contract.ExportPath{Export: id})
		if err != nil {
			return e, err
		}
		progress(e)
		if !e.Running() {
			return e, unready(e)
		}
		select {
		case <-ctx.Done():
			return e, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// followExport reads streams of an export until it has ended. It returns false if the server
// sends none: polling then finds out why.
func (c *Client) followExport(ctx context.Context, id string, progress func(contract.Export)) (contract.Export, bool) {
	for {
		e, sent := c.followExportOnce(ctx, id, progress)
		if !sent || !e.Running() {
			return e, sent
		}
		if sleep(ctx, askAgain) != nil { // a server ends a stream after a while
			return e, false
		}
	}
}

// followExportOnce reads one stream to its end and returns the last export that it sent.
func (c *Client) followExportOnce(
	ctx context.Context, id string, progress func(contract.Export),
) (e contract.Export, sent bool) {
	for now, err := range Follow(ctx, c, contract.FollowExport, contract.ExportPath{Export: id}) {
		if err != nil || now.ID != id {
			return e, false
		}
		e, sent = now, true
		progress(e)
		if !e.Running() {
			break
		}
	}
	return e, sent
}

// unready returns the error of an export that has ended without a zip, nil of a ready one.
func unready(e contract.Export) error {
	switch e.State {
	case contract.ExportReady:
		return nil
	case contract.ExportFailed:
		return fault.New(fault.Conflict, "export_failed", "%s", e.Error)
	case contract.ExportExpired:
		return fault.New(fault.Conflict, "export_expired", "The zip of this export has expired. Export the project "+
			"again.")
	case contract.ExportCancelled:
		return fault.New(fault.Conflict, "export_cancelled", "This export was canceled.")
	}
	return fault.New(fault.Conflict, "export_"+e.State, "The export %s isn't ready. Its state is %q.", e.ID, e.State)
}

// Download writes the zip of a ready export to w and compares its size and SHA-256 with those of the export. After an
// error, the caller has to discard the output.
func (c *Client) Download(ctx context.Context, e contract.Export, w io.Writer) error {
	sum := sha256.New()
	// By its id, not by download_url: the token must reach only its own server. One byte more than announced, so that a
	// longer response shows.
	n, err := Download(ctx, c, contract.DownloadExport, e.Path(), io.MultiWriter(w, sum), e.SizeBytes+1)
	switch {
	case err != nil:
		return err
	case n != e.SizeBytes:
		return fault.New(fault.Internal, "download_damaged", "The download's size doesn't match the %d bytes "+
			"that the server announced. Try again.", e.SizeBytes)
	case hex.EncodeToString(sum.Sum(nil)) != e.SHA256:
		return fault.New(fault.Internal, "download_damaged", "The download's SHA-256 hash doesn't match the one that "+
			"the server announced. Try again.")
	}
	return nil
}

// source keeps the error of reading, to tell it from an error of writing.
type source struct {
	io.Reader
	failed error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return n, err
}
