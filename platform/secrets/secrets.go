// Package secrets keeps what must be readable again, such as provider secrets and
// signing keys, sealed at rest (security.md, 5: envelope encryption).
//
// It owns the key-encryption keys, which live outside the database, the data keys
// that they wrap, the Sealed column type, and the Secret type that never shows
// itself. It does not own where rows are kept: a Store, which a *models.Tx is,
// holds the wrapped data keys. Secrets that need not be read again are kept as
// SHA-256 by those who check them.
//
// Ciphers are AES-256-GCM as Tink implements it (NIST SP 800-38D), so that a
// wrapped key names the key that wrapped it and keys can be replaced in place.
package secrets

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealed is an encrypted value as a column keeps it; nil says that there is none.
// It begins with the length and the id of the data key that sealed it, so that a
// row can move to another team and a team can have several data keys.
type Sealed []byte

// Value implements driver.Valuer. The SQLite driver would keep a plain nil slice
// as an empty value.
func (s Sealed) Value() (driver.Value, error) {
	if s == nil {
		return nil, nil
	}
	return []byte(s), nil
}

// Scan implements sql.Scanner.
func (s *Sealed) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*s = nil
	case []byte:
		*s = bytes.Clone(v) // the driver goes on to use its own
	default:
		return fmt.Errorf("secrets: a sealed value is kept as %T", value)
	}
	return nil
}

// GormDataType names the column type to GORM.
func (Sealed) GormDataType() string { return "bytes" }

// Place is where a sealed value stands: associated data of the cipher, so that a
// value which is copied to another row or column does not open there.
type Place struct {
	Table  string
	Row    string // the row's primary key
	Column string
}

// associatedData has no spelling in common with another place: ids and names of
// columns hold no NUL.
func (p Place) associatedData() []byte {
	return []byte(strings.Join([]string{p.Table, p.Row, p.Column}, "\x00"))
}

// DataKey is a data key, wrapped by a key-encryption key.
type DataKey struct {
	ID      string // dek_…
	Team    string
	Wrapped []byte
}

// Store is where wrapped data keys are kept: a transaction, so that a value and
// the key that opens it are written together.
type Store interface {
	DataKeyOfTeam(team string) (DataKey, bool, error) // the oldest; false when the team has none
	DataKeyByID(id string) (DataKey, error)
	AddDataKey(team string, wrap func(id string) ([]byte, error)) (DataKey, error)
}

// Vault seals and opens. It is safe for concurrent use.
type Vault struct {
	wrapping tink.AEAD
	keys     int
}

// Replacing tells whether older key-encryption keys are given beside the first,
// so that what they wrapped should be rewrapped.
func (v *Vault) Replacing() bool { return v.keys > 1 }

// Seal encrypts a team's value for its place. A team's first value makes the
// team's data key, in the same transaction.
func (v *Vault) Seal(store Store, team string, at Place, plaintext Secret) (Sealed, error) {
	key, ok, err := store.DataKeyOfTeam(team)
	if err == nil && !ok {
		key, err = v.newDataKey(store, team)
	}
	if err != nil {
		return nil, fmt.Errorf("secrets: data key of %s: %w", team, err)
	}
	cipher, err := v.unwrap(key)
	if err != nil {
		return nil, err
	}
	text, err := cipher.Encrypt([]byte(plaintext), at.associatedData())
	if err != nil {
		return nil, fmt.Errorf("secrets: seal %s of %s %s: %w", at.Column, at.Table, at.Row, err)
	}
	out := append([]byte{byte(len(key.ID))}, key.ID...)
	return append(out, text...), nil
}

// Open decrypts what Seal made for the same place.
func (v *Vault) Open(store Store, at Place, sealed Sealed) (Secret, error) {
	id, text, err := sealed.split()
	if err != nil {
		return "", fmt.Errorf("secrets: open %s of %s %s: %w", at.Column, at.Table, at.Row, err)
	}
	cipher, err := v.find(store, id)
	if err != nil {
		return "", err
	}
	return decrypt(cipher, at, text)
}

func (v *Vault) find(store Store, id string) (tink.AEAD, error) {
	key, err := store.DataKeyByID(id)
	if err != nil {
		return nil, fmt.Errorf("secrets: find the data key %s: %w", id, err)
	}
	return v.unwrap(key)
}

func decrypt(cipher tink.AEAD, at Place, text []byte) (Secret, error) {
	plaintext, err := cipher.Decrypt(text, at.associatedData())
	if err != nil {
		return "", fmt.Errorf("secrets: open %s of %s %s: %w", at.Column, at.Table, at.Row, err)
	}
	return Secret(plaintext), nil
}

func (s Sealed) split() (id string, text []byte, err error) {
	if len(s) == 0 || len(s) < 1+int(s[0]) {
		return "", nil, errors.New("the value is cut off")
	}
	n := 1 + int(s[0])
	return string(s[1:n]), s[n:], nil
}

func (v *Vault) newDataKey(store Store, team string) (DataKey, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return DataKey{}, err
	}
	return store.AddDataKey(team, func(id string) ([]byte, error) { return v.wrap(handle, id) })
}

func (v *Vault) wrap(handle *keyset.Handle, id string) ([]byte, error) {
	var out bytes.Buffer
	if err := handle.WriteWithAssociatedData(keyset.NewBinaryWriter(&out), v.wrapping, wrapped(id)); err != nil {
		return nil, fmt.Errorf("wrap the data key %s: %w", id, err)
	}
	return out.Bytes(), nil
}

func (v *Vault) handle(key DataKey) (*keyset.Handle, error) {
	handle, err := keyset.ReadWithAssociatedData(
		keyset.NewBinaryReader(bytes.NewReader(key.Wrapped)), v.wrapping, wrapped(key.ID),
	)
	if err != nil {
		return nil, fmt.Errorf("secrets: unwrap the data key %s (is a key missing from POSTERN_SECRETS_KEY or the "+
			"data directory?): %w", key.ID, err)
	}
	return handle, nil
}

func (v *Vault) unwrap(key DataKey) (tink.AEAD, error) {
	handle, err := v.handle(key)
	if err != nil {
		return nil, err
	}
	cipher, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("secrets: data key %s: %w", key.ID, err)
	}
	return cipher, nil
}

func wrapped(id string) []byte {
	return Place{Table: "data_keys", Row: id, Column: "wrapped"}.associatedData()
}

// MarkID is the id of the mark of a database, which sorts before those of all data keys.
const MarkID = "dek_0"

// Mark makes a data key that seals nothing. It is kept from the first start on, so that
// a replica with other key-encryption keys is found out before it seals anything.
func (v *Vault) Mark() (DataKey, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return DataKey{}, err
	}
	out := DataKey{ID: MarkID}
	out.Wrapped, err = v.wrap(handle, out.ID)
	return out, err
}

// Check tells whether a data key can be unwrapped.
func (v *Vault) Check(key DataKey) error {
	_, err := v.handle(key)
	return err
}

// Rewrap wraps a data key with the first key-encryption key. After all have been
// rewrapped, the older key-encryption keys open nothing any more.
func (v *Vault) Rewrap(key DataKey) (DataKey, error) {
	handle, err := v.handle(key)
	if err != nil {
		return DataKey{}, err
	}
	key.Wrapped, err = v.wrap(handle, key.ID)
	return key, err
}
