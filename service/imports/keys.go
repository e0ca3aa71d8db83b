package imports

import (
	"context"
	"slices"
	"strings"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
)

// keyRows are keys about to be written.
type keyRows struct {
	*work
	rows    []models.APIKey
	inGrace map[[32]byte]bool // secrets that rotated keys of the team still have

	taken     int64 // left out, because the team has a key with the secret
	revoked   int64 // left out, because the team has revoked a key with the secret
	narrowed  int64 // opened another product too, which is not in the zip
	ownerRows []int // positions of rows whose owner may be a user with a new id
}

// writeKeys creates the keys. One whose secret a key of the team has is left out: a secret opens one key.
func (w *work) writeKeys(ctx context.Context) error {
	b := &keyRows{work: w, inGrace: map[[32]byte]bool{}}
	if w.contents.Report.Keys > 0 {
		var hashes []models.Digest
		err := w.stage.Piece(func(tx *models.Tx) (err error) {
			hashes, err = tx.HashesInGrace(w.team, w.now)
			return err
		})
		if err != nil {
			return err
		}
		for _, hash := range hashes {
			b.inGrace[[32]byte(hash)] = true
		}
	}
	for k, err := range w.contents.Keys(ctx) {
		if err != nil {
			return err
		}
		keys.CheckImported(k, w.project, w.now) // for the canonical form of its ranges
		if b.add(k); len(b.rows) == rowsAtOnce {
			if err := w.stage.Piece(b.flush); err != nil {
				return err
			}
		}
	}
	if err := w.stage.Piece(b.flush); err != nil {
		return err
	}
	w.noteKeys(b)
	return nil
}

func (b *keyRows) add(k *snapshot.Key) {
	if b.inGrace[k.Hash] || k.OldHash != nil && b.inGrace[*k.OldHash] {
		b.taken++
		return
	}
	row := models.APIKey{
		ID:           k.ID,
		TeamID:       b.team, // which the project is given to at the end
		ProjectID:    b.row.ID,
		TenantID:     b.tenants[k.TenantID].ID,
		KeyTypeID:    b.keyTypes[k.KeyType],
		Owner:        k.Owner,
		Environment:  k.Environment,
		State:        string(k.State),
		AllowedCIDRs: k.AllowedIPs,
		Hash:         k.Hash[:],
		GraceEndsAt:  storedOrNil(k.GraceEndsAt),
		ExpiresAt:    storedOrNil(k.ExpiresAt),
		UpdatedAt:    b.now,
		KeyDetails:   k.KeyDetails,
		KeyIdentity:  k.KeyIdentity,
	}
	row.CreatedAt = stored(k.CreatedAt)
	row.Hash = append([]byte(nil), row.Hash...) // the key is overwritten by the next
	if k.OldHash != nil {
		row.OldHash = append([]byte(nil), k.OldHash[:]...)
	}
	if k.Limits != nil {
		limits := k.Limits.Stated()
		row.Limits = &limits
	}
	switch k.ProductID {
	case "":
	case b.project.ProductID:
		row.ProductID = b.product
	default:
		b.narrowed++
	}
	if b.newUsers && strings.HasPrefix(k.Owner, "usr_") {
		b.ownerRows = append(b.ownerRows, len(b.rows))
	}
	b.rows = append(b.rows, row)
}

// flush writes the added keys, except for those whose secret the team has.
func (b *keyRows) flush(tx *models.Tx) error {
	if len(b.rows) == 0 {
		return nil
	}
	if err := b.renameOwners(tx); err != nil {
		return err
	}
	ids, hashes := make([]string, 0, len(b.rows)), make([][]byte, 0, len(b.rows))
	for _, row := range b.rows {
		ids, hashes = append(ids, row.ID), append(hashes, row.Hash)
		if row.OldHash != nil {
			hashes = append(hashes, row.OldHash)
		}
	}
	foundIDs, err := tx.Existing(&models.APIKey{}, ids)
	if err != nil {
		return err
	}
	foundHashes, err := tx.KeyHashes(b.team, hashes)
	if err != nil {
		return err
	}
	revokedHashes, err := tx.RevokedHashes(b.team, hashes)
	if err != nil {
		return err
	}
	free := withoutTaken(b.rows, foundHashes)
	b.taken += int64(len(b.rows) - len(free))
	unknown := len(free)
	free = withoutRevoked(free, revokedHashes)
	b.revoked += int64(unknown - len(free))
	b.giveIDs(free, foundIDs)
	b.out.Made.Keys += int64(len(free))
	if !b.dryRun && len(free) > 0 {
		if err := tx.Insert(&free); err != nil {
			return err
		}
	}
	b.rows, b.ownerRows = b.rows[:0], b.ownerRows[:0]
	return nil
}

// renameOwners sets the new ids of users who own keys and got one.
func (b *keyRows) renameOwners(tx *models.Tx) error {
	var ids []string
	for _, at := range b.ownerRows {
		ids = append(ids, b.newUserID(b.rows[at].Owner))
	}
	found, err := tx.Existing(&models.EndUser{}, ids)
	if err != nil {
		return err
	}
	renamed := map[string]bool{}
	for _, id := range found {
		renamed[id] = true
	}
	for i, at := range b.ownerRows {
		if renamed[ids[i]] {
			b.rows[at].Owner = ids[i]
		}
	}
	return nil
}

// withoutTaken returns the rows without those that have one of the hashes.
func withoutTaken(rows []models.APIKey, hashes [][]byte) []models.APIKey {
	has := hasOneOf(hashes)
	return slices.DeleteFunc(slices.Clone(rows), has)
}

// withoutRevoked is withoutTaken, but keeps the rows of keys that are revoked.
func withoutRevoked(rows []models.APIKey, hashes [][]byte) []models.APIKey {
	has := hasOneOf(hashes)
	return slices.DeleteFunc(rows, func(row models.APIKey) bool {
		return row.State != string(snapshot.KeyRevoked) && has(row)
	})
}

func hasOneOf(hashes [][]byte) func(models.APIKey) bool {
	among := map[[32]byte]bool{}
	for _, hash := range hashes {
		among[[32]byte(hash)] = true
	}
	return func(row models.APIKey) bool {
		return among[[32]byte(row.Hash)] || row.OldHash != nil && among[[32]byte(row.OldHash)]
	}
}

// giveIDs gives new ids to the rows whose own are taken or no ids of this product.
func (b *keyRows) giveIDs(rows []models.APIKey, taken []string) {
	used := map[string]bool{}
	for _, id := range taken {
		used[id] = true
	}
	for i := range rows {
		if used[rows[i].ID] || !isID("key", rows[i].ID) {
			rows[i].ID = models.NewID("key")
			b.changedIDs["keys"]++
		}
	}
}
