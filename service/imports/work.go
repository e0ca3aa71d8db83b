package imports

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"time"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/projects"
)

// rowsAtOnce is how many rows are written with one statement.
const rowsAtOnce = 500

// work is one attempt at writing an import.
type work struct {
	service  *Service
	p        access.Principal
	team     string
	contents *bundle.Contents
	project  *snapshot.Project // of the zip, with its ids
	checked  checked
	dryRun   bool
	now      time.Time

	row       models.Project
	keyTypes  map[string]string        // ids of this server by name
	tenants   map[string]models.Tenant // by their ids in the zip
	existing  map[string]bool          // tenants that the team had before, by their ids in the zip
	clients   map[string]string        // ids of this server by those in the zip, as the two that follow
	providers map[string]string
	groups    map[string]string
	mapped    map[string][]models.Provider // that map claims to a group, by its id in the zip

	newUsers bool         // users get new ids, which newUserID derives
	seed     [32]byte     // of newUserID
	begins   models.RawID // has the time that the new ids begin with

	changedIDs map[string]int64 // how many got new ids, by what they are
	out        Outcome
}

func newWork(
	s *Service, p access.Principal, team string, contents *bundle.Contents, checked checked, dryRun bool,
) *work {
	w := &work{
		service:    s,
		p:          p,
		team:       team,
		contents:   contents,
		project:    contents.Project,
		checked:    checked,
		dryRun:     dryRun,
		now:        models.Now(),
		keyTypes:   map[string]string{},
		tenants:    map[string]models.Tenant{},
		existing:   map[string]bool{},
		clients:    map[string]string{},
		providers:  map[string]string{},
		groups:     map[string]string{},
		mapped:     map[string][]models.Provider{},
		changedIDs: map[string]int64{},
	}
	rand.Read(w.seed[:])                                     // never fails: it ends the process instead
	w.begins, _ = models.ParseID("usr", models.NewID("usr")) // an id that was just made
	w.out = Outcome{SHA256: contents.SHA256, Signed: contents.Signed, DryRun: dryRun}
	return w
}

// write makes everything in tx. In a dry run it writes no users, keys and relations, and returns
// errDryRun with the outcome.
func write(ctx context.Context, tx *models.Tx, w *work) (Outcome, error) {
	for _, step := range []func(context.Context, *models.Tx) error{
		w.writeProject, w.writeVersions, w.writeKeyTypes, w.writeTenants, w.writeLogins, w.writeDirectories,
		w.writeMappings, w.writeUsers, w.writeKeys, w.writeRelations, w.finish,
	} {
		if err := step(ctx, tx); err != nil {
			return Outcome{}, err
		}
	}
	if w.dryRun {
		return w.out, errDryRun
	}
	return w.out, nil
}

// keepIDs returns the ids that objects get: their own where it is free, or else a new one. row
// is of their table, noun what they are called. It counts those that are new.
func (w *work) keepIDs(tx *models.Tx, row any, kind, noun string, ids []string) (map[string]string, error) {
	taken, err := tx.Existing(row, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(ids))
	for _, id := range ids {
		out[id] = id
		if slices.Contains(taken, id) || !isID(kind, id) {
			out[id] = models.NewID(kind)
			w.changedIDs[noun]++
		}
	}
	return out, nil
}

func (w *work) keepID(tx *models.Tx, row any, kind, noun, id string) (string, error) {
	ids, err := w.keepIDs(tx, row, kind, noun, []string{id})
	return ids[id], err
}

func isID(kind, id string) bool {
	_, err := models.ParseID(kind, id)
	return err == nil
}

// newUserID returns the new id of a user. It is derived from the old one, because a table of a
// million users would not stay in memory.
func (w *work) newUserID(id string) string {
	mac := hmac.New(sha256.New, w.seed[:])
	mac.Write([]byte(id))
	raw := w.begins
	copy(raw[6:], mac.Sum(nil))
	return raw.String("usr")
}

// userID returns the id that a user of the zip has here.
func (w *work) userID(id string) string {
	if w.newUsers {
		return w.newUserID(id)
	}
	return id
}

// stored returns a time as the database stores it.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func storedOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	out := stored(t)
	return &out
}

// finish checks what needs the whole project, and records the import.
func (w *work) finish(_ context.Context, tx *models.Tx) (err error) {
	if err := w.service.Projects.FitsImported(tx, w.row); err != nil {
		return err
	}
	if w.out.Project, err = projects.ViewImported(tx, w.row); err != nil {
		return err
	}
	w.out.LeftOut = w.leftOut()
	err = access.Record(tx, w.p, access.Entry{
		Action: access.ProjectImport,
		Object: w.row.ID,
		Team:   w.team,
		Detail: map[string]string{
			"name":      w.row.Name,
			"sha256":    fmt.Sprintf("%x", w.out.SHA256),
			"keys":      strconv.FormatInt(w.out.Made.Keys, 10),
			"users":     strconv.FormatInt(w.out.Made.Users, 10),
			"relations": strconv.FormatInt(w.out.Made.Relations, 10),
		},
		After: w.out.Project,
	})
	if err != nil {
		return err
	}
	return tx.AddRevision(w.row.ID, "", w.now)
}
