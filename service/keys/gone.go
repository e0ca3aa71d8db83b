package keys

import (
	"crypto/sha256"
	"errors"

	"postern/models"
)

// goneID identifies a secret of a team that no key has any more: half of a SHA-256, because there may be many.
type goneID [16]byte

func (s secretOf) gone() goneID {
	sum := sha256.New()
	sum.Write(s.hash[:])
	sum.Write([]byte(s.team))
	return goneID(sum.Sum(nil))
}

// Gone reports whether the hash is of a secret that a key of a team with imported keys had in the past: the key was
// rotated, or was revoked and removed. Such a secret can look like a token, and must not be sent to an issuer of
// tokens.
func (t *Table) Gone(team string, hash [32]byte) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.gone) == 0 {
		return false
	}
	_, gone := t.gone[secretOf{team, hash}.gone()]
	return gone
}

// addGone keeps that a secret is gone. Those of a team without imported keys have the form of our keys, by which they
// are known.
func (t *Table) addGone(secret secretOf) {
	if t.importing[secret.team] {
		t.gone[secret.gone()] = struct{}{}
	}
}

// loadGone notes which teams have imported keys, and adds the secrets that the database has of their former keys; of
// the project's team alone, unless that is "". It comes before the keys, which add theirs only for such a team.
func (t *Table) loadGone(tx *models.Tx, projectID string) error {
	return tx.ScanRevokedHashes(projectID, func(teamID string, hash []byte) error {
		t.lock()
		defer t.mu.Unlock()
		t.importing[teamID] = true
		switch len(hash) {
		case 0: // the team only imported keys
			return nil
		case len(secretOf{}.hash):
			t.addGone(secretOf{teamID, [32]byte(hash)})
			return nil
		}
		return errors.New("keys: the hash of a former secret has the wrong length")
	})
}

// dropSecrets keeps that the secrets of a record are gone, apart from those of the row that replaces it.
func (t *Table) dropSecrets(at uint32, by *models.APIKey) {
	had := []secretOf{*t.secret(at)}
	if old, ok := t.olds[at]; ok {
		had = append(had, secretOf{had[0].team, old})
	}
	for _, secret := range had {
		if by == nil || secret.hash != [32]byte(by.Hash) {
			t.addGone(secret)
		}
	}
}
