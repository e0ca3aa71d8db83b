// Package secrets encrypts values that must be readable again, such as provider
// secrets and signing keys, at rest (envelope encryption).
//
// It owns the key-encryption keys, which are outside the database, the data keys
// that they wrap, the Sealed column type, and the Secret type, which prints as ***.
// It does not own where rows are stored: a Store, such as a *models.Tx, has the
// wrapped data keys. Packages that only compare a secret store its SHA-256 instead.
//
// A team has a data key for each Purpose. From each key-encryption key a gateway key is
// derived (RFC 5869), which wraps only the data keys of values that gateways open, so
// that a process with gateway keys alone opens nothing else.
//
// The cipher is Tink's AES-256-GCM (NIST SP 800-38D): a wrapped key has the id of
// the key that wrapped it, so that keys can be replaced.
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

// Sealed is an encrypted value in a column; nil means that there is none. It begins
// with the length and the id of the data key that sealed it, so that a row can move to
// another team and a team can have several data keys.
type Sealed []byte

// Value implements driver.Valuer: nil is NULL, whatever a driver makes of a nil slice.
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
		*s = bytes.Clone(v) // the driver reuses v
	default:
		return fmt.Errorf("secrets: a sealed value is stored as %T", value)
	}
	return nil
}

// DataKeyID returns the id of the data key that sealed the value, "" if it is cut off.
func (s Sealed) DataKeyID() string {
	id, _, _ := s.split()
	return id
}

// GormDataType names the column type to GORM.
func (Sealed) GormDataType() string { return "bytes" }

// Purpose says which processes need a sealed value. The zero value is undecided, and
// nothing can be sealed for it.
type Purpose uint8

const (
	undecided Purpose = iota

	// ForControl is for what the control plane and workers alone need.
	ForControl
	// ForGateways is for what gateways need too.
	ForGateways
)

// Place is the column of a row that a sealed value is for. Table, Row and Column are the
// associated data of the cipher, so that a value that is copied to another row or column
// cannot be opened. Purpose chooses the data key that seals; it is not needed to open.
type Place struct {
	Table   string
	Row     string // the row's primary key
	Column  string
	Purpose Purpose
}

// associatedData differs for every two places: ids and column names have no NUL.
func (p Place) associatedData() []byte {
	return []byte(strings.Join([]string{p.Table, p.Row, p.Column}, "\x00"))
}

// DataKey is a data key, wrapped by a key-encryption key and, if gateways need it, by a
// gateway key as well.
type DataKey struct {
	ID             string
	Team           string
	Wrapped        []byte
	GatewayWrapped []byte // empty: gateway keys do not open it
}

// The kinds of ids of data keys by purpose.
const (
	controlKind = "dek"
	gatewayKind = "dgk"
)

// Kind returns what the ids of the purpose's data keys begin with.
func (p Purpose) Kind() string {
	if p == ForGateways {
		return gatewayKind
	}
	return controlKind
}

// Purpose returns which values the data key seals.
func (k DataKey) Purpose() Purpose {
	if strings.HasPrefix(k.ID, gatewayKind+"_") {
		return ForGateways
	}
	return ForControl
}

// Store stores wrapped data keys. It is a transaction, so that a value and the key
// that opens it are written together.
type Store interface {
	DataKeyOfTeam(team string, purpose Purpose) (DataKey, bool, error) // the oldest; false if the team lacks one
	DataKeyByID(id string) (DataKey, error)
	AddDataKey(team string, purpose Purpose, wrap func(DataKey) (DataKey, error)) (DataKey, error)
}

// Vault seals and opens values. It is safe for concurrent use.
type Vault struct {
	control tink.AEAD // the key-encryption keys; nil with gateway keys alone
	gateway tink.AEAD // the gateway keys
	keys    int
}

// OnlyGateways reports whether the vault has gateway keys alone, and opens only values
// that gateways need.
func (v *Vault) OnlyGateways() bool { return v.control == nil }

// ErrOnlyGateways is the error of opening a value with gateway keys that was not sealed
// for gateways.
var ErrOnlyGateways = errors.New("this process has the gateway key, but the value is sealed with the full key: give " +
	"the process the full secrets key")

// Replacing reports whether there are older key-encryption keys, so that the data keys
// that they wrapped should be rewrapped.
func (v *Vault) Replacing() bool { return v.keys > 1 }

// Seal encrypts a team's value for its place. The first call for a team creates the
// team's data key in the same transaction.
func (v *Vault) Seal(store Store, team string, at Place, plaintext Secret) (Sealed, error) {
	if at.Purpose == undecided {
		return nil, fmt.Errorf("secrets: %s of %s %s has no purpose", at.Column, at.Table, at.Row)
	}
	key, err := v.dataKey(store, team, at.Purpose)
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

// Open decrypts a result of Seal for the same place.
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
		return "", nil, errors.New("the value is truncated")
	}
	n := 1 + int(s[0])
	return string(s[1:n]), s[n:], nil
}

// dataKey returns a team's data key, and creates it if there is none.
func (v *Vault) dataKey(store Store, team string, purpose Purpose) (DataKey, error) {
	key, ok, err := store.DataKeyOfTeam(team, purpose)
	if err != nil || ok {
		return key, err
	}
	if v.control == nil {
		return key, ErrOnlyGateways
	}
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return key, err
	}
	return store.AddDataKey(team, purpose, func(key DataKey) (DataKey, error) {
		return v.wrap(handle, key, purpose == ForGateways)
	})
}

// wrap sets the key's wrapped forms.
func (v *Vault) wrap(handle *keyset.Handle, key DataKey, forGateways bool) (DataKey, error) {
	if v.control == nil {
		return key, ErrOnlyGateways
	}
	write := func(with tink.AEAD, column string) ([]byte, error) {
		var out bytes.Buffer
		err := handle.WriteWithAssociatedData(keyset.NewBinaryWriter(&out), with, wrapped(key.ID, column))
		if err != nil {
			return nil, fmt.Errorf("wrap the data key %s: %w", key.ID, err)
		}
		return out.Bytes(), nil
	}
	var err error
	if key.Wrapped, err = write(v.control, wrappedColumn); err != nil {
		return key, err
	}
	key.GatewayWrapped = []byte{}
	if forGateways {
		key.GatewayWrapped, err = write(v.gateway, gatewayColumn)
	}
	return key, err
}

func (v *Vault) handle(key DataKey) (*keyset.Handle, error) {
	text, with, column := key.Wrapped, v.control, wrappedColumn
	if v.control == nil {
		if len(key.GatewayWrapped) == 0 {
			return nil, fmt.Errorf("secrets: data key %s: %w", key.ID, ErrOnlyGateways)
		}
		text, with, column = key.GatewayWrapped, v.gateway, gatewayColumn
	}
	handle, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(text)), with,
		wrapped(key.ID, column))
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

// The columns of a data key's wrapped forms.
const wrappedColumn, gatewayColumn = "wrapped", "gateway_wrapped"

func wrapped(id, column string) []byte {
	return Place{Table: "data_keys", Row: id, Column: column}.associatedData()
}

// MarkID is the id of a database's mark. It sorts before the ids of all data keys.
const MarkID = "dek_0"

// Mark returns a data key that seals nothing. It is stored at the first start, so that
// a replica with other key-encryption keys, or a gateway with other gateway keys, fails
// before it seals anything.
func (v *Vault) Mark() (DataKey, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return DataKey{}, err
	}
	return v.wrap(handle, DataKey{ID: MarkID}, true)
}

// Check returns an error if the data key cannot be unwrapped: ErrOnlyGateways if it takes
// more than a gateway key.
func (v *Vault) Check(key DataKey) error {
	_, err := v.handle(key)
	return err
}

// Rewrap wraps a data key with the first key-encryption key. Once all data keys are
// rewrapped, the older key-encryption keys are no longer needed.
func (v *Vault) Rewrap(key DataKey) (DataKey, error) {
	handle, err := v.handle(key)
	if err != nil {
		return DataKey{}, err
	}
	return v.wrap(handle, key, len(key.GatewayWrapped) > 0)
}
