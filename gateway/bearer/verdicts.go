package bearer

import (
	"crypto/sha256"
	"encoding/binary"
	"sync/atomic"
	"time"
)

// verdictLife is how long a verdict is valid. A token is verified again after it, so that no fault of the cache
// outlives the promise of a revocation by much.
const verdictLife = time.Minute

// verdictSlots bounds the verdicts. A gateway that gets more tokens in a minute verifies some of them again.
const verdictSlots = 1 << 14

// maxKept bounds the payload, in bytes, whose reading is kept with the verdict: all of them take at most 50
// MB. A longer one is read on every call.
const maxKept = 2 << 10

// verdicts remembers which signatures were valid, and what their tokens say: to verify and read one takes longer than
// everything else about a call. The claims, users and sessions are checked on every call. A slot has the last verdict
// that fell into it. It is safe for concurrent use.
type verdicts struct {
	slots []atomic.Pointer[verdict]
}

// verdict says that a key has signed a token.
type verdict struct {
	token [sha256.Size]byte // SHA-256 of its compact form
	key   *publicKey        // of the same set: keys that were fetched again have their own verdicts
	says  *reading          // nil: too long to be kept
	until time.Time
}

func newVerdicts() verdicts { return verdicts{slots: make([]atomic.Pointer[verdict], verdictSlots)} }

func (v *verdicts) slot(token *[sha256.Size]byte) *atomic.Pointer[verdict] {
	return &v.slots[binary.LittleEndian.Uint64(token[:])%verdictSlots]
}

// find returns the verdict on the token with that SHA-256, nil if there is none or it has expired.
func (v *verdicts) find(token *[sha256.Size]byte, now time.Time) *verdict {
	known := v.slot(token).Load()
	if known == nil || known.token != *token {
		return nil
	}
	// A clock that was set back must not prolong it.
	if left := known.until.Sub(now); left <= 0 || left > verdictLife {
		return nil
	}
	return known
}

// keep remembers that the key has signed the token. Only valid signatures are kept: invented tokens displace nothing.
func (v *verdicts) keep(parts *compact, says *reading, by *publicKey, now time.Time) {
	if len(parts.payload) > maxKept {
		says = nil
	}
	v.slot(&parts.sum).Store(&verdict{token: parts.sum, key: by, says: says, until: now.Add(verdictLife)})
}
