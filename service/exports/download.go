package exports

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Open opens the zip of a ready export and records the download. It returns Gone for an expired export, and Conflict
// with the code export_not_ready for one that isn't ready.
func (s *Service) Open(ctx context.Context, p access.Principal, in contract.ExportPath) (contract.File, error) {
	row, parent, err := s.downloadable(ctx, p, in.Export)
	if err != nil {
		return contract.File{}, err
	}
	content, err := s.opened(ctx, p, row, parent, map[string]string{"format": row.Format, "keys": row.Keys})
	if err != nil {
		return contract.File{}, err
	}
	return contract.File{
		Name:       fileName(parent.Name, row.Format),
		Size:       row.SizeBytes,
		SHA256:     row.SHA256,
		WroteAt:    *row.FinishedAt,
		ReadCloser: content,
	}, nil
}

// MayDownload refuses a principal that may not download the zip of an export. It records nothing.
func (s *Service) MayDownload(ctx context.Context, p access.Principal, in contract.ExportPath) error {
	_, _, err := s.downloadable(ctx, p, in.Export)
	return err
}

func (s *Service) downloadable(
	ctx context.Context, p access.Principal, id string,
) (row models.Export, parent models.Project, err error) {
	row, parent, err = s.find(s.DB.Read(ctx), p, id, access.ExportDownload)
	if err == nil && row.Keys == string(bundle.KeysMint) {
		err = access.Check(p, parent.TeamID, access.ExportMinted)
	}
	if err == nil && row.Secrets {
		err = access.Check(p, parent.TeamID, access.ExportSecrets)
	}
	if err != nil {
		return row, parent, fmt.Errorf("exports: download %s: %w", id, err)
	}
	return row, parent, nil
}

// OpenLedger opens the ledger in the zip of a ready export, which has every item as JSON, and records the download. It
// requires the same as Open, except for the permissions for new keys and secrets, which a ledger doesn't contain.
func (s *Service) OpenLedger(ctx context.Context, p access.Principal, in contract.ExportPath) (contract.File, error) {
	id := in.Export
	row, parent, err := s.find(s.DB.Read(ctx), p, id, access.ExportDownload)
	if err != nil {
		return contract.File{}, fmt.Errorf("exports: download the ledger of %s: %w", id, err)
	}
	content, err := s.opened(ctx, p, row, parent, map[string]string{"format": row.Format, "part": "ledger"})
	if err != nil {
		return contract.File{}, err
	}
	archive, err := zip.NewReader(&readerAt{content: content}, row.SizeBytes)
	var file io.ReadCloser
	var size int64
	if err == nil {
		file, size, err = entryOf(archive, bundle.ReportFile)
	}
	if err != nil {
		err = fmt.Errorf("exports: read the ledger of %s: %w", id, explain(err))
		return contract.File{}, errors.Join(err, content.Close())
	}
	return contract.File{
		Name: parent.Name + "-ledger.json",
		Size: size,
		ReadCloser: struct {
			io.Reader
			io.Closer
		}{file, content},
	}, nil
}

// MayDownloadLedger refuses a principal that may not download the ledger of an export. It records nothing.
func (s *Service) MayDownloadLedger(ctx context.Context, p access.Principal, in contract.ExportPath) error {
	if _, _, err := s.find(s.DB.Read(ctx), p, in.Export, access.ExportDownload); err != nil {
		return fmt.Errorf("exports: download the ledger of %s: %w", in.Export, err)
	}
	return nil
}

// entryOf opens a file of a zip and returns its size too.
func entryOf(archive *zip.Reader, name string) (io.ReadCloser, int64, error) {
	for _, f := range archive.File {
		if f.Name == name {
			content, err := f.Open()
			return content, int64(f.UncompressedSize64), err
		}
	}
	return nil, 0, fmt.Errorf("%s is not in the zip", name)
}

// opened opens the zip of a ready export and records a download with that detail.
func (s *Service) opened(
	ctx context.Context, p access.Principal, row models.Export, parent models.Project, detail map[string]string,
) (io.ReadSeekCloser, error) {
	ended := row.State == contract.ExportReady && !row.ExpiresAt.After(models.Now())
	if ended || row.State == contract.ExportExpired {
		return nil, fault.New(fault.Gone, "export_expired", "This export has expired. Create a new export.")
	}
	if row.State != contract.ExportReady {
		return nil, fault.New(fault.Conflict, "export_not_ready",
			"This export's state is %s. Only ready exports can be downloaded.", row.State)
	}
	content, err := s.open(ctx, row)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "could not read the file of an export", "export", row.ID, "error", err)
		}
		return nil, fmt.Errorf("exports: download %s: %w", row.ID, explain(err))
	}
	// A download that cannot be recorded is refused.
	entry := access.Entry{
		Action:  access.ExportDownload,
		Object:  row.ID,
		Project: parent.ID,
		Team:    parent.TeamID,
		Detail:  detail,
	}
	if err := s.DB.Write(ctx, func(tx *models.Tx) error { return access.Record(tx, p, entry) }); err != nil {
		return nil, errors.Join(fmt.Errorf("exports: record the download of %s: %w", row.ID, err), content.Close())
	}
	broken := func(err error) {
		if ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "the download of an export was interrupted", "export", row.ID, "error", err)
		}
	}
	return &told{content, broken}, nil
}

// told reads a file and passes on what ended it early: an answer that has begun cannot say it.
type told struct {
	io.ReadSeekCloser

	broken func(error)
}

func (t *told) Read(p []byte) (int, error) {
	n, err := t.ReadSeekCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		t.broken(err)
	}
	return n, err
}

// explain turns an error of a store into what a caller may see of it, and leaves other errors
// unchanged.
func explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Unavailable, "export_elsewhere", "This server can't find the file for this export. "+
			"Create a new export. Replicas must share a bucket or a directory (--blob-url).").
			Because(err)
	case errors.Is(err, ErrStoreDown):
		return fault.New(fault.Unavailable, "exports_unavailable", "The export storage isn't responding. Try again in "+
			"a minute.").After(time.Minute).Because(err)
	}
	return err
}

func fileName(project, format string) string {
	if format == string(bundle.FormatGateway) {
		format = "kong"
	}
	return project + "-" + format + ".zip"
}
