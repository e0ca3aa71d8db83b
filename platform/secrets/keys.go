package secrets

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"
)

// KeySize is the length of a key-encryption key in bytes.
const KeySize = 32

// NewVault returns a vault with the key-encryption keys, each 32 bytes in base64,
// separated by commas or white space. The first wraps; all of them unwrap. To replace
// a key without downtime, first append the new key on every replica, then move it to
// the front on every replica, then remove the old one.
func NewVault(keys Secret) (*Vault, error) {
	list := strings.FieldsFunc(keys.Reveal(), func(r rune) bool { return r == ',' || r <= ' ' })
	if len(list) == 0 {
		return nil, errors.New("no key is given: create one with `openssl rand -base64 32`")
	}
	manager := keyset.NewManager()
	for i, text := range list {
		id, err := addKey(manager, text)
		if err != nil {
			return nil, fmt.Errorf("key %d of %d: %w", i+1, len(list), err)
		}
		if i > 0 {
			continue
		}
		if err := manager.SetPrimary(id); err != nil {
			return nil, err
		}
	}
	handle, err := manager.Handle()
	if err != nil {
		return nil, err
	}
	wrapping, err := aead.New(handle)
	if err != nil {
		return nil, err
	}
	return &Vault{wrapping: wrapping, keys: len(list)}, nil
}

// addKey adds a key with an id derived from the key; everything that the key wraps
// begins with the id. Errors do not repeat the text: it may be nearly a key.
func addKey(manager *keyset.Manager, text string) (uint32, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != KeySize {
		return 0, fmt.Errorf("it is not %d bytes in base64: create one with `openssl rand -base64 32`", KeySize)
	}
	parameters, err := aesgcm.NewParameters(aesgcm.ParametersOpts{
		KeySizeInBytes: KeySize,
		IVSizeInBytes:  12,
		TagSizeInBytes: 16,
		Variant:        aesgcm.VariantTink,
	})
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(raw)
	id := binary.BigEndian.Uint32(sum[:])
	key, err := aesgcm.NewKey(secretdata.NewBytesFromData(raw, insecuresecretdataaccess.Token{}), id, parameters)
	if err != nil {
		return 0, err
	}
	id, err = manager.AddKey(key)
	if err != nil {
		return 0, fmt.Errorf("it is given twice, or cannot be used: %w", err)
	}
	return id, nil
}

// KeyFile returns the key-encryption keys in a file. If there is no file it creates it
// with one new key. Two processes that create it at once get the same key.
func KeyFile(path string) (Secret, error) {
	found, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return Secret(found), err
	}
	var raw [KeySize]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return "", err
	}
	if err := writeOnce(path, base64.StdEncoding.EncodeToString(raw[:])+"\n"); err != nil {
		return "", err
	}
	found, err = os.ReadFile(path)
	return Secret(found), err
}

// writeOnce creates a file that only its owner can read, atomically, and leaves an
// existing file unchanged: a link, unlike a rename, does not replace.
func writeOnce(path, content string) (err error) {
	draft := path + "." + rand.Text()
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(draft)) }()
	_, err = f.WriteString(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(draft, path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
