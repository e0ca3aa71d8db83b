package secrets

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"

	"postern/platform/scratch"
)

// KeySize is the length of a key-encryption key in bytes.
const KeySize = 32

// gatewayPrefix marks a gateway key among the keys of a vault.
const gatewayPrefix = "gateway:"

// NewVault returns a vault with the key-encryption keys, each 32 bytes in base64,
// separated by commas or white space. The first wraps; all of them unwrap. To replace
// a key without downtime, first append the new key on every replica, then move it to
// the front on every replica, then remove the old one.
//
// The keys can be those of GatewayKeys instead, for a vault of a gateway alone.
func NewVault(keys Secret) (*Vault, error) {
	list, err := parseKeys(keys)
	if err != nil {
		return nil, err
	}
	v := &Vault{keys: len(list)}
	var control, gateway [][]byte
	for _, key := range list {
		if key.gateway {
			gateway = append(gateway, key.raw)
			continue
		}
		derived, err := gatewayKey(key.raw)
		if err != nil {
			return nil, err
		}
		control, gateway = append(control, key.raw), append(gateway, derived)
	}
	if v.gateway, err = wrappingWith(gateway); err != nil || len(control) == 0 {
		return v, err
	}
	v.control, err = wrappingWith(control)
	return v, err
}

// GatewayKeys returns the gateway keys of key-encryption keys, in their order: all that a
// process with no other role than that of a gateway needs.
func GatewayKeys(keys Secret) (Secret, error) {
	list, err := parseKeys(keys)
	if err != nil {
		return "", err
	}
	texts := make([]string, 0, len(list))
	for _, key := range list {
		raw := key.raw
		if !key.gateway {
			if raw, err = gatewayKey(raw); err != nil {
				return "", err
			}
		}
		texts = append(texts, gatewayPrefix+base64.StdEncoding.EncodeToString(raw))
	}
	return Secret(strings.Join(texts, ",")), nil
}

// gatewayKey derives the gateway key from a key-encryption key (RFC 5869). Salt and info
// are constants: they separate it from every other use of the key.
func gatewayKey(raw []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, raw, []byte("postern secrets at rest"), "gateway key 1", KeySize)
}

type givenKey struct {
	raw     []byte
	gateway bool
}

// parseKeys reads a list of keys. Errors do not repeat the text: it may be nearly a key.
func parseKeys(keys Secret) ([]givenKey, error) {
	list := strings.FieldsFunc(keys.Reveal(), func(r rune) bool { return r == ',' || r <= ' ' })
	if len(list) == 0 {
		return nil, errors.New("there is no key: create one with `openssl rand -base64 32`")
	}
	out := make([]givenKey, 0, len(list))
	for i, text := range list {
		text, gateway := strings.CutPrefix(text, gatewayPrefix)
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw) != KeySize {
			return nil, fmt.Errorf("key %d of %d isn't %d bytes in base64: create one with `openssl rand -base64 32`",
				i+1, len(list), KeySize)
		}
		if len(out) > 0 && out[0].gateway != gateway {
			return nil, errors.New("gateway keys and full secrets keys are mixed: give gateways the output of " +
				"`postern secrets gateway-key`, and all other processes the full secrets keys")
		}
		out = append(out, givenKey{raw, gateway})
	}
	return out, nil
}

// wrappingWith returns the cipher of a list of keys, the first of which encrypts.
func wrappingWith(keys [][]byte) (tink.AEAD, error) {
	manager := keyset.NewManager()
	for i, raw := range keys {
		id, err := addKey(manager, raw)
		if err != nil {
			return nil, fmt.Errorf("key %d of %d: %w", i+1, len(keys), err)
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
	return aead.New(handle)
}

// addKey adds a key with an id derived from the key; everything that the key wraps
// begins with the id.
func addKey(manager *keyset.Manager, raw []byte) (uint32, error) {
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
		return 0, fmt.Errorf("it appears twice or can't be used: %w", err)
	}
	return id, nil
}

// ExistingKeyFile returns the keys in a file.
func ExistingKeyFile(path string) (Secret, error) {
	found, err := os.ReadFile(path)
	return Secret(found), err
}

// KeyFile returns the key-encryption keys in a file. If there is no file it creates it
// with one new key. Two processes that create it at once get the same key.
func KeyFile(path string) (Secret, error) {
	found, err := ExistingKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	var raw [KeySize]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return "", err
	}
	if err := writeOnce(path, base64.StdEncoding.EncodeToString(raw[:])+"\n"); err != nil {
		return "", err
	}
	return ExistingKeyFile(path)
}

// writeOnce creates a file that only its owner can read, atomically, and leaves an
// existing file unchanged: a link, unlike a rename, does not replace.
func writeOnce(path, content string) error {
	draft, err := scratch.File(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer scratch.Discard(draft)
	_, err = draft.WriteString(content)
	if err := errors.Join(err, draft.Sync()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
