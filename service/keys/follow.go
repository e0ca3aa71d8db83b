package keys

import (
	"context"
	"crypto/sha256"
	"errors"
	"regexp"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// ImportWatch identifies an import by an ID that its page created for the upload.
type ImportWatch struct{ Project, Watch string }

// ImportProgress is the progress of an import.
type ImportProgress struct {
	contract.KeyImportCounts
	Done bool
}

const (
	followImportEvery  = time.Second
	followImportFor    = time.Hour
	maxImportFollowers = 64 // streams of this process, each of which asks the database
)

var importFollowers = make(chan struct{}, maxImportFollowers)

var watchForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Watched returns ImportFile.Again for an import that a principal follows with a watch; nil if the watch is malformed.
func Watched(p access.Principal, watch string) []byte {
	if !watchForm.MatchString(watch) {
		return nil
	}
	sum := sha256.Sum256([]byte("watch\x00" + p.Account + "\x00" + watch))
	return sum[:]
}

// lookupOf identifies an import that can be repeated.
func lookupOf(projectID string, again []byte) []byte {
	sum := sha256.Sum256(append([]byte("keys/import\x00"+projectID+"\x00"), again...))
	return sum[:]
}

// MayFollow reports whether the principal may follow imports into the project.
func (s *Service) MayFollow(ctx context.Context, p access.Principal, in ImportWatch) error {
	return s.CheckImport(ctx, p, contract.KeyImport{ProjectPath: contract.ProjectPath{Project: in.Project}})
}

// FollowImport sends the progress of the principal's import every second, until the import or ctx ends. It reads the
// progress from the database, because any replica may import the file. Errors: too_many_followers.
func (s *Service) FollowImport(
	ctx context.Context, p access.Principal, in ImportWatch, send func(ImportProgress) error,
) error {
	project, err := access.Project(s.DB.Read(ctx), p, in.Project, access.KeyCreate)
	if err != nil {
		return err
	}
	again := Watched(p, in.Watch)
	if again == nil {
		return fault.InvalidField("/watch", "invalid_watch", "Use 32 hexadecimal digits.")
	}
	select {
	case importFollowers <- struct{}{}:
		defer func() { <-importFollowers }()
	default:
		return fault.New(fault.TooMany, "too_many_followers", "Too many clients are following imports (%d). Try "+
			"again later.",
			maxImportFollowers)
	}
	ctx, stop := context.WithTimeout(ctx, followImportFor)
	defer stop()
	lookup := lookupOf(project.ID, again)
	for {
		var now ImportProgress
		row, err := s.DB.Read(ctx).KeyImportByLookup(lookup)
		if err == nil {
			now = ImportProgress{row.Result.KeyImportCounts, row.Done}
		} else if !errors.Is(err, models.ErrNotFound) { // the upload may begin later
			return err
		}
		if err := send(now); err != nil || now.Done {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followImportEvery):
		}
	}
}
