package secrets

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/tink"

	"postern/platform/syncmap"
)

// KeptKeys caches unwrapped data keys, so that opening values often does not load and
// unwrap their key each time. It does not cache the opened values. The zero value is
// ready to use; it is safe for concurrent use.
type KeptKeys struct {
	ciphers syncmap.Map[string, tink.AEAD]
}

// Open is Vault.Open with the cache. Entries never expire: a data key may be rewrapped,
// but is never replaced.
func (k *KeptKeys) Open(v *Vault, store Store, at Place, sealed Sealed) (Secret, error) {
	id, text, err := sealed.split()
	if err != nil {
		return "", fmt.Errorf("secrets: open %s of %s %s: %w", at.Column, at.Table, at.Row, err)
	}
	cipher, err := k.cipher(v, store, id)
	if err != nil {
		return "", err
	}
	return decrypt(cipher, at, text)
}

func (k *KeptKeys) cipher(v *Vault, store Store, id string) (tink.AEAD, error) {
	if known, ok := k.ciphers.Load(id); ok {
		return known, nil
	}
	cipher, err := v.find(store, id)
	if err == nil {
		k.ciphers.Store(id, cipher)
	}
	return cipher, err
}
