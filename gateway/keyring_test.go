package gateway_test

import (
	"sync"

	"postern/core/policy"
	"postern/core/snapshot"
)

// keyring implements gateway.Keys for tests.
type keyring struct {
	mu    sync.Mutex
	byNew map[[32]byte]*snapshot.Key
	byOld map[[32]byte]*snapshot.Key
	gone  map[[32]byte]bool
	asked int // number of lookups
}

func (k *keyring) Gone(_ string, hash [32]byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.gone[hash]
}

func (k *keyring) Lookup(_ string, hash [32]byte, into *snapshot.Key) (found, old bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	key := k.byNew[hash]
	if key == nil {
		key, old = k.byOld[hash], true
	}
	if key == nil {
		return false, false
	}
	*into = *key
	return true, old
}

func (k *keyring) looks() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked
}

func (k *keyring) put(plaintext string, key snapshot.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key.Hash = policy.HashKey(plaintext)
	k.byNew[key.Hash] = &key
}

func (k *keyring) putOld(plaintext string, key snapshot.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byOld[policy.HashKey(plaintext)] = &key
}

// drop removes the key with that plaintext as its current secret.
func (k *keyring) drop(plaintext string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byNew, policy.HashKey(plaintext))
}
