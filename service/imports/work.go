package imports

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
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
	stage    models.Stage

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

	moved   []string               // ids of tenants that the team gets at the end
	serves  []models.ProjectTenant // written at the end, as the next two
	product *string                // id
	entries []access.Entry

	changedIDs map[string]int64 // how many got new ids, by what they are
	out        contract.Import
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
	w.out = contract.Import{
		State: contract.ImportDone, SHA256: hex.EncodeToString(contents.SHA256[:]), Signed: contents.Signed,
	}
	if dryRun {
		w.out.State = contract.ImportDryRun
	}
	return w
}

// write makes everything in the stage, but no users, keys and relations in a dry run.
func (w *work) write(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		w.writeProject, w.writeVersions, w.writeKeyTypes, w.writeTenants, w.writeLogins, w.writeDirectories,
		w.writeMappings, w.writeUsers, w.writeKeys, w.writeRelations,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// insertAll writes rows, each batch as a piece.
func insertAll[T any](w *work, rows []T) error {
	for batch := range slices.Chunk(rows, rowsAtOnce) {
		if err := w.stage.Piece(func(tx *models.Tx) error { return tx.Insert(&batch) }); err != nil {
			return err
		}
	}
	return nil
}

// keepIDs returns the IDs that objects get: their own if it is free, or else a new one. row is a row of their table,
// and noun their name in texts. It counts new IDs.
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

// keptIDs is keepIDs as a piece.
func (w *work) keptIDs(row any, kind, noun string, ids []string) (out map[string]string, err error) {
	err = w.stage.Piece(func(tx *models.Tx) error {
		out, err = w.keepIDs(tx, row, kind, noun, ids)
		return err
	})
	return out, err
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

// finish hands the project over to its team, checks what needs the whole project, and records the import. In a dry run
// it returns errDryRun.
func (w *work) finish(tx *models.Tx) error {
	w.row.TeamID, w.row.Name, w.row.ProductID, w.row.DeletedAt = w.team, w.project.Name, w.product, nil
	if err := tx.HandOver(w.stage, w.moved, w.row); err != nil {
		return err
	}
	for _, served := range w.serves {
		if _, err := tx.AttachTenant(served); err != nil {
			return err
		}
	}
	if err := w.service.Projects.FitsImported(tx, w.row); err != nil {
		return err
	}
	if err := w.markImportedKeys(tx); err != nil {
		return err
	}
	imported, err := w.service.Projects.ViewImported(tx, w.row)
	if err != nil {
		return err
	}
	w.out.Project = imported.Project
	w.out.LeftOut = w.leftOut()
	if w.dryRun {
		return errDryRun
	}
	w.entries = append(w.entries, access.Entry{
		Action: access.ProjectImport,
		Object: w.row.ID,
		Team:   w.team,
		Detail: map[string]string{
			"name":      w.row.Name,
			"sha256":    w.out.SHA256,
			"keys":      strconv.FormatInt(w.out.Made.Keys, 10),
			"users":     strconv.FormatInt(w.out.Made.Users, 10),
			"relations": strconv.FormatInt(w.out.Made.Relations, 10),
		},
		After: imported,
	})
	for _, entry := range w.entries {
		if err := access.Record(tx, w.p, entry); err != nil {
			return err
		}
	}
	return tx.AddRevision(w.row.ID, "", w.now)
}

// markImportedKeys lets keys of any form be valid in the project's product too, if the zip has imported ones.
func (w *work) markImportedKeys(tx *models.Tx) error {
	if !w.project.ImportedKeys {
		return nil
	}
	others, err := tx.MarkImportedKeys(w.row.ID, w.product)
	if err != nil {
		return err
	}
	for _, id := range others {
		if err := tx.AddRevision(id, "", w.now); err != nil {
			return err
		}
	}
	return nil
}
