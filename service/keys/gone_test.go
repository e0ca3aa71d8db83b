package keys_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/keys"
	"postern/testkit/state"
)

// A gateway knows the secrets that imported keys no longer have, whether it follows the changes or starts afterward.
func TestTable_gone(t *testing.T) {
	hashOf := func(secret string) []byte {
		sum := sha256.Sum256([]byte(secret))
		return sum[:]
	}
	before := models.Now().Add(-time.Hour)
	for _, tc := range []struct {
		name   string
		change func(tx *models.Tx, key models.APIKey) error
		gone   bool
	}{
		{"unchanged", func(*models.Tx, models.APIKey) error { return nil }, false},
		{"frozen", func(tx *models.Tx, key models.APIKey) error {
			key.State = "frozen"
			return update(tx, key)
		}, false},
		{"rotated without grace", func(tx *models.Tx, key models.APIKey) error {
			after := key
			after.Hash = hashOf("new")
			if err := tx.KeepDroppedHashes(&key, &after); err != nil {
				return err
			}
			return update(tx, after)
		}, true},
		{"rotated, and the grace has ended", func(tx *models.Tx, key models.APIKey) error {
			key.OldHash, key.GraceEndsAt, key.Hash = key.Hash, &before, hashOf("new")
			return update(tx, key)
		}, true},
		{"revoked and removed", func(tx *models.Tx, key models.APIKey) error {
			key.State, key.UpdatedAt = "revoked", before
			if err := update(tx, key); err != nil {
				return err
			}
			_, err := tx.RemoveRevokedKeys(models.Now(), 10)
			return err
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				w, now := newWorld(t, db), models.Now()
				types, err := db.Read(t.Context()).KeyTypesOf(w.project.ID)
				must(t, err)
				tenants, err := db.Read(t.Context()).TenantsOf(w.project.ID)
				must(t, err)
				key := models.APIKey{
					ID: models.NewID("key"), TeamID: w.project.TeamID, ProjectID: w.project.ID, TenantID: tenants[0].ID,
					KeyTypeID: types[0].ID, Owner: "ana", State: "active", Hash: hashOf("old"), UpdatedAt: now,
					KeyDetails: contract.KeyDetails{CreatedAt: now},
				}
				must(t, db.Write(t.Context(), func(tx *models.Tx) error {
					_, err := tx.MarkImportedKeys(w.project.ID, nil)
					if err != nil {
						return err
					}
					return tx.Insert(&key)
				}))
				follower, all, one := keys.NewTable(), keys.NewTable(), keys.NewTable()
				must(t, follower.LoadAll(db.Read(t.Context())))
				must(t, db.Write(t.Context(), func(tx *models.Tx) error { return tc.change(tx, key) }))
				must(t, follower.LoadKeys(db.Read(t.Context()), key.ID))
				must(t, all.LoadAll(db.Read(t.Context())))
				must(t, one.LoadProject(db.Read(t.Context()), w.project.ID))
				for name, table := range map[string]*keys.Table{
					"follows": follower, "starts": all, "reads the project": one,
				} {
					if got := table.Gone(w.project.TeamID, [32]byte(hashOf("old"))); got != tc.gone {
						t.Errorf("a gateway that %s: gone %t, want %t", name, got, tc.gone)
					}
					if table.Gone("team_other", [32]byte(hashOf("old"))) || table.Gone(w.project.TeamID, [32]byte{1}) {
						t.Errorf("a gateway that %s: a secret of another team, or of no key, is gone", name)
					}
				}
			})
		})
	}
}

// A gateway keeps nothing of the former secrets of a team that has imported no keys, and all of them from its first
// import on.
func TestTable_goneDuringImport(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		hash := [][32]byte{{1}, {2}, {3}}
		types, err := db.Read(t.Context()).KeyTypesOf(w.project.ID)
		must(t, err)
		tenants, err := db.Read(t.Context()).TenantsOf(w.project.ID)
		must(t, err)
		now := models.Now()
		key := models.APIKey{
			ID: models.NewID("key"), TeamID: w.project.TeamID, ProjectID: w.project.ID, TenantID: tenants[0].ID,
			KeyTypeID: types[0].ID, Owner: "ana", State: "active", Hash: hash[0][:], UpdatedAt: now,
			KeyDetails: contract.KeyDetails{CreatedAt: now},
		}
		must(t, db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&key) }))
		table := keys.NewTable()
		must(t, table.LoadAll(db.Read(t.Context())))
		rotate := func(to [32]byte) {
			t.Helper()
			must(t, db.Write(t.Context(), func(tx *models.Tx) error {
				before := key
				key.Hash = to[:]
				return errors.Join(tx.KeepDroppedHashes(&before, &key), update(tx, key))
			}))
			must(t, table.LoadKeys(db.Read(t.Context()), key.ID))
		}
		want := func(when string, gone ...bool) {
			t.Helper()
			for i := range gone {
				if got := table.Gone(w.project.TeamID, hash[i]); got != gone[i] {
					t.Errorf("%s: secret %d is gone: %t, want %t", when, i, got, gone[i])
				}
			}
		}
		rotate(hash[1])
		want("before the first import", false, false)
		must(t, db.Write(t.Context(), func(tx *models.Tx) error {
			_, err := tx.MarkImportedKeys(w.project.ID, nil)
			return err
		}))
		must(t, table.LoadProject(db.Read(t.Context()), w.project.ID))
		want("with the first import", true, false)
		rotate(hash[2])
		want("afterwards", true, true, false)
		var stored bytes.Buffer
		out := bufio.NewWriter(&stored)
		must(t, errors.Join(table.Write(out), out.Flush()))
		table, err = keys.ReadTable(bufio.NewReader(&stored))
		must(t, err)
		want("read from a file", true, true, false)
		rotate(hash[0])
		want("and followed from there", true, true, true)
	})
}

func update(tx *models.Tx, key models.APIKey) error {
	was, err := tx.KeyByID(key.ID)
	if err != nil {
		return err
	}
	_, err = tx.UpdateKey(key, was.UpdatedAt)
	return err
}
