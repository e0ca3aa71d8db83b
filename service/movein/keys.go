package movein

import (
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/keys"
)

// writeStagedKeys writes the keys, if the project that they are created in is new.
func (w *writing) writeStagedKeys() error {
	if !w.homeIsNew {
		return nil
	}
	return w.eachBatch(func(batch []checkedKey, do func(*models.Tx, []checkedKey) error) error {
		return w.stage.Piece(func(tx *models.Tx) error { return do(tx, batch) })
	}, func(tx *models.Tx, batch []checkedKey) error {
		_, err := w.writeKeys(tx, batch)
		return err
	})
}

// settleKeys writes the keys that a project that exists doesn't have yet.
func (w *writing) settleKeys(tx *models.Tx) error {
	if w.homeIsNew {
		return nil
	}
	return w.eachBatch(func(batch []checkedKey, do func(*models.Tx, []checkedKey) error) error {
		return do(tx, batch)
	}, func(tx *models.Tx, batch []checkedKey) error {
		ids, err := w.writeKeys(tx, batch)
		if err != nil || len(ids) == 0 {
			return err
		}
		return tx.AddKeysRevision(w.home.ID, ids, w.now)
	})
}

// eachBatch looks all keys up, and then writes them. Between two batches, PostgreSQL would search among the keys that
// were just inserted, without knowing how many there are.
func (w *writing) eachBatch(
	run func([]checkedKey, func(*models.Tx, []checkedKey) error) error, write func(*models.Tx, []checkedKey) error,
) error {
	w.existing, w.revoked = map[[32]byte]*models.APIKey{}, map[[32]byte]bool{}
	for _, step := range []func(*models.Tx, []checkedKey) error{w.lookUp, write} {
		for batch := range slices.Chunk(w.checked.keys, rowsAtOnce) {
			if err := run(batch, step); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUp finds the keys of the team that have or had one of the secrets.
func (w *writing) lookUp(tx *models.Tx, batch []checkedKey) error {
	hashes := make([][]byte, 0, len(batch))
	for i := range batch {
		hashes = append(hashes, batch[i].row.Hash)
		w.hashes[[32]byte(batch[i].row.Hash)] = true
	}
	have, err := tx.KeysByHash(w.team, hashes)
	if err != nil {
		return err
	}
	for i := range have {
		for _, hash := range [][]byte{have[i].OldHash, have[i].Hash} {
			if hash == nil {
				continue
			}
			if was := w.existing[[32]byte(hash)]; was == nil || slices.Equal(have[i].Hash, hash) {
				w.existing[[32]byte(hash)] = &have[i]
			}
		}
	}
	gone, err := tx.RevokedHashes(w.team, hashes)
	for _, hash := range gone {
		w.revoked[[32]byte(hash)] = true
	}
	return err
}

// writeKeys writes the keys that the team doesn't have yet, and returns the IDs of the keys that it wrote or changed. A
// key that was revoked or rotated here stays as it is.
func (w *writing) writeKeys(tx *models.Tx, batch []checkedKey) (ids []string, err error) {
	var rows []models.APIKey
	var wrong []fault.Field
	for i := range batch {
		row, hash := w.keyRow(&batch[i]), [32]byte(batch[i].row.Hash)
		switch was := w.existing[hash]; {
		case was == nil && w.revoked[hash]:
			w.keep(kindKey, "", row.Owner, batch[i].pointer, "A key with this secret was rotated or revoked here. "+
				"The secret remains invalid.")
		case was == nil:
			rows = append(rows, row)
		case !w.isOurs(was.ProjectID):
			wrong = append(wrong, fault.Field{
				Pointer: batch[i].pointer, Code: "exists_elsewhere", Detail: "This key already exists in another " +
					"project in your team, as " + was.ID + ". Leave it out of the file, or give its owner a new key.",
			})
		default:
			changed, err := w.settleKey(tx, was, &row, batch[i].pointer)
			if err != nil {
				return nil, err
			}
			if changed {
				ids = append(ids, was.ID)
			}
		}
	}
	if err := fault.InvalidFields(wrong); err != nil || len(rows) == 0 {
		return ids, err
	}
	made := make([]string, 0, len(rows))
	for i := range rows {
		made = append(made, rows[i].ID)
	}
	w.record(kindKeys, "", w.home.ID, "", nil)
	w.made[len(w.made)-1].Keys = made
	w.out.Created.Keys += int64(len(rows))
	return append(ids, made...), tx.InsertKeys(rows)
}

// keyRow returns the row of a key in its place.
func (w *writing) keyRow(in *checkedKey) models.APIKey {
	row := in.row
	row.ID, row.CreatedAt, row.UpdatedAt = models.NewID("key"), w.now, w.now
	row.TeamID, row.ProjectID, row.TenantID, row.KeyTypeID = w.team, w.home.ID, w.tenant, w.keyType
	row.ProductID = &w.product
	return row
}

// isOurs reports whether an import of the gateway's files created a project.
func (w *writing) isOurs(project string) bool {
	return slices.ContainsFunc(w.before, func(one models.MovedObject) bool {
		return one.Kind == kindProject && one.Object == project
	})
}

// settleKey makes a key as in the file, unless it was changed here.
func (w *writing) settleKey(tx *models.Tx, was, row *models.APIKey, pointer string) (changed bool, err error) {
	after := *was
	after.Limits, after.AllowedCIDRs, after.ExpiresAt = row.Limits, row.AllowedCIDRs, row.ExpiresAt
	after.KeyIdentity = row.KeyIdentity
	if row.State == contract.KeyFrozen {
		after.State = row.State
	}
	switch {
	case was.State == contract.KeyRevoked:
		w.keep(kindKey, was.ID, was.Owner, pointer, "It was revoked here, and remains revoked.")
		return false, nil
	case !slices.Equal(was.Hash, row.Hash):
		w.keep(kindKey, was.ID, was.Owner, pointer, "It was rotated here. The secret in the file is invalid, or will "+
			"become invalid when the grace period ends.")
		return false, nil
	case was.Owner != row.Owner:
		w.keep(kindKey, was.ID, was.Owner, pointer, "It has a different owner in the file, but a key's owner can't "+
			"be changed. Revoke the key and create a new one.")
		return false, nil
	case keys.SameAttributes(was, &after) && was.State == row.State:
		w.out.Unchanged++
		return false, nil
	case was.State != row.State && row.State == contract.KeyActive:
		w.keep(kindKey, was.ID, was.Owner, pointer, "It is frozen here. An import doesn't unfreeze it. "+
			"Unfreeze it yourself.")
		return false, nil
	case !w.imports[was.UpdatedAt.UTC()] && !w.plan.Options.Theirs:
		w.keep(kindKey, was.ID, was.Owner, pointer, keptDetail)
		return false, nil
	}
	after.UpdatedAt = w.now
	saved, err := tx.UpdateKey(after, was.UpdatedAt)
	if err == nil && !saved {
		err = errOther
	}
	w.out.Updated.Keys++
	return true, err
}

// errOther is the error of an import during which another request changed one of its objects.
var errOther = fault.New(fault.Conflict, "import_overtaken", "While the import was running, another request changed "+
	"one of its objects. Nothing was imported. Try again.")

// keptDetail says why an object stays different from the file.
const keptDetail = "It was changed here after the last import and differs from the file. To overwrite it, " +
	overwriteDo

// overwriteDo is what overwrites changes, in words for all who import: the page calls it “Overwrite changes”, the API
// theirs, and the command line --theirs.
const overwriteDo = "import the files again with the option to overwrite changes (theirs)."
