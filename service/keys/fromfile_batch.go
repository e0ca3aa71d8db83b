package keys

import (
	"errors"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/keyfile"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// batchOf is a batch of an import in its transaction, which may be tried again.
type batchOf struct {
	*importing
	tx  *models.Tx
	now time.Time

	known    places
	existing map[[32]byte]models.APIKey
	revoked  map[[32]byte]bool
	room     int64 // keys that an unclaimed workspace may still have; -1: any number

	created  []models.APIKey
	at       map[[32]byte]int // positions in created
	updated  []change
	invented []models.KeyType // key types that were created; in a dry run, all of the import
	people   map[string]models.EndUser

	counts contract.KeyImportCounts
	listed []contract.KeyImportError
	lines  []contract.KeyImportRow
	kept   *models.KeyImport
}

// change is a key before and after an update.
type change struct{ before, after models.APIKey }

// places are what rows can name in the project.
type places struct {
	types        []models.KeyType
	tenants      map[string]string // ids by name
	ownTenant    string
	product      models.Product // the zero value for none
	environments map[string]bool
}

func (b *batchOf) take(batch []item, number int64) error {
	b.listed = slices.Clone(b.result.Errors)
	if err := b.read(batch); err != nil {
		return err
	}
	for i := range batch {
		if err := b.row(&batch[i]); err != nil {
			return err
		}
	}
	if b.in.DryRun {
		return nil
	}
	return b.write(number)
}

// read reads the objects to which the rows of the batch refer.
func (b *batchOf) read(batch []item) error {
	project, err := access.Project(b.tx, b.p, b.project.ID, access.KeyCreate)
	if err != nil {
		return err
	}
	if project.TeamID != b.project.TeamID {
		return errMoved
	}
	b.project, b.at, b.people = project, map[[32]byte]int{}, map[string]models.EndUser{}
	if b.room, err = access.Room(b.tx, project.TeamID, models.QuotaKeys); err != nil {
		return err
	}
	if b.in.DryRun && b.room >= 0 {
		b.room = max(0, b.room-b.result.Created)
	}
	if err := b.readPlaces(); err != nil {
		return err
	}
	hashes := make([][]byte, 0, len(batch))
	for i := range batch {
		if len(batch[i].refused) == 0 {
			hashes = append(hashes, batch[i].row.SHA256[:])
		}
	}
	found, err := b.tx.KeysByHash(project.TeamID, hashes)
	if err != nil {
		return err
	}
	b.existing = make(map[[32]byte]models.APIKey, len(found))
	for _, row := range found {
		if row.OldHash != nil {
			if _, current := b.existing[[32]byte(row.OldHash)]; !current {
				b.existing[[32]byte(row.OldHash)] = row
			}
		}
		b.existing[[32]byte(row.Hash)] = row
	}
	gone, err := b.tx.RevokedHashes(project.TeamID, hashes)
	b.revoked = make(map[[32]byte]bool, len(gone))
	for _, hash := range gone {
		b.revoked[[32]byte(hash)] = true
	}
	return err
}

func (b *batchOf) readPlaces() error {
	types, err := b.tx.KeyTypesOf(b.project.ID)
	if err != nil {
		return err
	}
	b.known = places{tenants: map[string]string{}, environments: map[string]bool{}}
	if b.in.DryRun {
		b.invented = b.types
		types = append(types, b.invented...)
	}
	b.known.types = types
	if err := b.checkKeyType(); err != nil {
		return err
	}
	tenants, err := b.tx.TenantsOf(b.project.ID)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		b.known.tenants[tenant.Name] = tenant.ID
		if tenant.ProjectID != nil {
			b.known.ownTenant = tenant.ID
		}
	}
	environments, err := b.tx.EnvironmentsOf(b.project.ID)
	if err != nil {
		return err
	}
	for _, e := range environments {
		b.known.environments[e.Name] = true
	}
	if b.project.ProductID != nil {
		b.known.product, err = b.tx.ProductByID(*b.project.ProductID)
	}
	return err
}

// row decides on a row.
func (b *batchOf) row(in *item) error {
	if len(in.refused) > 0 {
		var wrong []contract.KeyImportError
		for _, one := range in.refused {
			wrong = append(wrong, contract.KeyImportError(one))
		}
		b.refuse(in.row.Number, wrong...)
		return nil
	}
	key, fields, err := b.keyOf(&in.row)
	if err != nil {
		return err
	}
	if len(fields) == 0 {
		fields, err = b.place(&in.row, key)
	}
	if err != nil {
		return err
	}
	if len(fields) > 0 {
		var wrong []contract.KeyImportError
		for _, one := range fields {
			wrong = append(wrong, contract.KeyImportError{
				Row: in.row.Number, Pointer: one.Pointer, Code: one.Code, Detail: withoutCells(one.Detail, &in.row),
			})
		}
		b.refuse(in.row.Number, wrong...)
	}
	return nil
}

func (b *batchOf) refuse(number int64, wrong ...contract.KeyImportError) {
	b.counts.Refused++
	b.listed = append(b.listed, wrong[:min(len(wrong), maxImportErrors-min(len(b.listed), maxImportErrors))]...)
	b.line(contract.KeyImportRow{Row: number, Result: contract.KeyRowRefused, Errors: wrong})
}

func (b *batchOf) line(of contract.KeyImportRow) {
	if b.file.Line != nil {
		b.lines = append(b.lines, of)
	}
}

// count counts a row that is taken.
func (b *batchOf) count(in *keyfile.Row, result, id string) {
	switch result {
	case contract.KeyRowCreated:
		b.counts.Created++
	case contract.KeyRowUpdated:
		b.counts.Updated++
	default:
		b.counts.Unchanged++
	}
	if b.in.DryRun && result == contract.KeyRowCreated {
		id = ""
	}
	b.line(contract.KeyImportRow{Row: in.Number, Result: result, Key: id})
}

// place decides what becomes of a checked row, or returns why it is refused.
func (b *batchOf) place(in *keyfile.Row, key models.APIKey) ([]fault.Field, error) {
	mark := (&secretOf{key.TeamID, in.SHA256}).word()
	was, exists := b.existing[in.SHA256]
	if prior, again := b.seen[mark]; again {
		return b.again(in, key, mark, prior, "The file already contains this key"), nil
	}
	switch {
	case exists && was.ProjectID != b.project.ID:
		return refused("exists_elsewhere", "Another project in your team has this key. To use the key in both "+
			"projects, add them to the same product and set the key's product."), nil
	case exists && [32]byte(was.Hash) != in.SHA256:
		return refused("exists", "This is the secret that key "+was.ID+" had before it was rotated. Leave the row "+
				"out."),
			nil
	case exists && b.createdNow(&was):
		return b.again(in, key, mark, b.priorOf(&was), "The file already contains this key"), nil
	case exists:
		return b.again(in, key, mark, b.priorOf(&was), "The project has this key as "+was.ID), nil
	case b.revoked[in.SHA256] && key.State != contract.KeyRevoked:
		return refused("revoked_before", "One of your team's keys had this secret before it was rotated or revoked. "+
			"The secret can't become valid again. Create a new key for its owner."), nil
	case b.room == 0:
		return refused("workspace_full", "This unclaimed workspace can't have more API keys. Claim it, then import "+
			"the file again."), nil
	}
	if wrong, err := b.owner(key); err != nil || len(wrong) > 0 {
		return wrong, err
	}
	if b.room > 0 {
		b.room--
	}
	b.seen[mark] = b.priorOf(&key)
	b.at[in.SHA256] = len(b.created)
	b.created = append(b.created, key)
	b.count(in, contract.KeyRowCreated, key.ID)
	return nil, nil
}

func refused(code, detail string) []fault.Field { return []fault.Field{{Code: code, Detail: detail}} }

// owner finds the end user that owns a key.
func (b *batchOf) owner(key models.APIKey) ([]fault.Field, error) {
	if !strings.HasPrefix(key.Owner, "usr_") {
		return nil, nil
	}
	user, err := lockOwner(b.tx, key)
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return refusal.Fields, nil
	}
	b.people[key.TenantID+" "+user.State] = user
	return nil, err
}

// write writes the decisions.
func (b *batchOf) write(number int64) error {
	for i := range b.invented {
		if err := b.tx.Insert(&b.invented[i]); err != nil {
			return err
		}
	}
	if len(b.created) > 0 {
		if err := b.tx.InsertKeys(b.created); err != nil {
			return err
		}
		if err := stillThere(b.tx, b.project, ""); err != nil {
			return err
		}
	}
	ids := make([]string, 0, len(b.created)+len(b.updated))
	for i := range b.created {
		ids = append(ids, b.created[i].ID)
	}
	for _, one := range b.updated {
		saved, err := b.tx.UpdateKey(one.after, one.before.UpdatedAt)
		if err != nil {
			return err
		}
		if !saved {
			return errChanged
		}
		ids = append(ids, one.after.ID)
	}
	if err := b.keep(number); err != nil || len(ids) == 0 {
		return err
	}
	return b.revise(ids)
}

// revise adds the revisions by which gateways follow.
func (b *batchOf) revise(ids []string) error {
	var product *string
	if slices.ContainsFunc(b.created, func(key models.APIKey) bool { return key.ProductID != nil }) {
		product = b.project.ProductID
	}
	changed, err := b.tx.MarkImportedKeys(b.project.ID, product)
	if err != nil {
		return err
	}
	if len(b.invented) > 0 && !slices.Contains(changed, b.project.ID) {
		changed = append(changed, b.project.ID)
	}
	for _, id := range changed {
		if err := b.tx.AddRevision(id, "", b.now); err != nil {
			return err
		}
	}
	for _, user := range b.people {
		tenant, err := b.tx.TenantByID(user.TenantID)
		if err != nil {
			return err
		}
		if user.State == "frozen" {
			err = b.tx.AddPersonRevisions(tenant, b.now)
		} else {
			err = b.tx.AddRuleRevisions(tenant, b.now)
		}
		if err != nil {
			return err
		}
	}
	return b.tx.AddKeysRevision(b.project.ID, ids, b.now)
}

// keep records that the batch is written, for a repeated import.
func (b *batchOf) keep(number int64) error {
	if b.importing.kept == nil {
		return nil
	}
	kept := *b.importing.kept
	kept.Batches, kept.Digest, kept.LeaseUntil = number, b.digest[:], b.now.Add(importLease)
	kept.Result.KeyImportCounts = plus(b.result.KeyImportCounts, b.counts)
	kept.Result.Errors = b.listed
	b.kept = &kept
	held, err := b.tx.SaveKeyImport(kept)
	if err == nil && !held {
		return errImporting
	}
	return err
}
