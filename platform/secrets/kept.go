package secrets

import (
	"fmt"
	"sync"

	"github.com/tink-crypto/tink-go/v2/tink"
)

// KeptKeys keeps data keys that were unwrapped, so that what is opened with one again
// and again does not ask the store for it each time. What was opened is not kept. The
// zero value is ready; it is safe for concurrent use.
type KeptKeys struct{ ciphers sync.Map }

// Open does what the vault's does. A data key is good for as long as it is known: it
// is wrapped anew now and then, and never replaced.
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
		return known.(tink.AEAD), nil
	}
	cipher, err := v.find(store, id)
	if err == nil {
		k.ciphers.Store(id, cipher)
	}
	return cipher, err
}
