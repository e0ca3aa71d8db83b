package bearer

import (
	"crypto/sha256"
	"encoding/binary"
	"sync/atomic"
	"time"
)

// verdictLife is how long a verdict holds. A token is verified again after it, so that no fault of the cache outlives
// the promise of a revocation by much.
const verdictLife = time.Minute

// verdictSlots bounds the verdicts, in 2 MB. A gateway that gets more tokens in a minute verifies some of them again.
const verdictSlots = 1 << 15

// verdicts remembers which signatures were valid: to verify one takes longer than everything else about a call. It says
// nothing about claims, users and sessions, which are judged on every call. A slot has the last verdict that fell into
// it. It is safe for concurrent use.
type verdicts struct {
	slots []atomic.Pointer[verdict]
}

// verdict says that a key has signed a token.
type verdict struct {
	token [sha256.Size]byte // SHA-256 of its compact form
	key   *publicKey        // of the very set that has it: keys that were fetched again have verdicts of their own
	until time.Time
}

func newVerdicts() verdicts { return verdicts{slots: make([]atomic.Pointer[verdict], verdictSlots)} }

func (v *verdicts) slot(token *[sha256.Size]byte) *atomic.Pointer[verdict] {
	return &v.slots[binary.LittleEndian.Uint64(token[:])%verdictSlots]
}

// signed reports whether the key has signed the token, by an earlier verdict where there is one. Only valid signatures
// are kept: invented tokens displace nothing.
func (v *verdicts) signed(parts *compact, by *publicKey, algorithm string, now time.Time) bool {
	sum := sha256.Sum256(parts.token)
	at := v.slot(&sum)
	if known := at.Load(); known != nil && known.key == by && known.token == sum {
		// A clock that was set back must not prolong it.
		if left := known.until.Sub(now); left > 0 && left <= verdictLife {
			return true
		}
	}
	if !by.verify(algorithm, parts.signed, parts.signature) {
		return false
	}
	at.Store(&verdict{token: sum, key: by, until: now.Add(verdictLife)})
	return true
}
