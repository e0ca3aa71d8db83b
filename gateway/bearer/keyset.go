package bearer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// The ages of cached keys.
const (
	refreshAfter = 30 * time.Second // older keys are fetched again in the background
	staleAfter   = 60 * time.Second // older keys verify nothing: the issuer may have withdrawn one
	fetchEvery   = 30 * time.Second // between two fetches of one source, whatever its tokens name
	unusedAfter  = 24 * time.Hour   // key sets that no call has used are forgotten
)

// maxWaiting bounds the calls that wait for one issuer's keys.
const maxWaiting = 200

// source identifies a key set: by its URL, or by the issuer whose discovery document
// names the URL.
type source struct{ issuer, jwks string }

func sourceOf(issuer *snapshot.TokenIssuer) source {
	if issuer.JWKSURL != "" {
		return source{jwks: issuer.JWKSURL}
	}
	return source{issuer: issuer.Issuer}
}

// keySet caches the keys of one source.
type keySet struct {
	verifier *Verifier
	source   source
	current  atomic.Pointer[fetchedKeys] // nil before the first successful fetch
	used     atomic.Int64                // last use, in Unix seconds
	waiting  atomic.Int64                // calls that wait for a fetch

	mu      sync.Mutex
	tried   time.Time     // when the last fetch began
	failed  bool          // the last fetch failed
	ongoing chan struct{} // closed when the ongoing fetch ends; nil without one
}

// fetchedKeys are the keys of a source at a time.
type fetchedKeys struct {
	keys []*publicKey
	at   time.Time
}

// set returns the key set of an issuer, and adds it if there is none.
func (v *Verifier) set(issuer *snapshot.TokenIssuer, now time.Time) *keySet {
	from := sourceOf(issuer)
	s, ok := v.sets.Load(from)
	if !ok {
		v.mu.Lock()
		if s, ok = v.sets.LoadOrStore(from, &keySet{verifier: v, source: from}); !ok {
			v.evict(now)
		}
		v.mu.Unlock()
	}
	if seconds := now.Unix(); s.used.Load() != seconds {
		s.used.Store(seconds)
	}
	return s
}

// evict removes the key sets that have not been used for unusedAfter.
func (v *Verifier) evict(now time.Time) {
	v.sets.Range(func(from source, set *keySet) bool {
		if used := set.used.Load(); used > 0 && now.Sub(time.Unix(used, 0)) > unusedAfter {
			v.sets.Delete(from)
		}
		return true
	})
}

// find returns the keys that may have signed a token, at least one, or the reason why
// there is none. An unknown kid causes a fetch, but no more often than fetchEvery:
// invented kids must not flood an issuer with requests.
func (s *keySet) find(ctx context.Context, kid, algorithm string, now time.Time) ([]*publicKey, policy.Denial) {
	have := s.current.Load()
	if keys := have.matching(kid, algorithm, now); len(keys) > 0 {
		if now.Sub(have.at) >= refreshAfter {
			s.refresh(ctx, now)
		}
		return keys, policy.Denial{}
	}
	if done := s.refresh(ctx, now); done != nil && !s.wait(done) {
		return nil, policy.IssuerUnavailable
	}
	have = s.current.Load()
	if keys := have.matching(kid, algorithm, now); len(keys) > 0 {
		return keys, policy.Denial{}
	}
	if !have.fresh(now) || s.lastFetchFailed() {
		return nil, policy.IssuerUnavailable // the issuer may have published the kid since
	}
	return nil, policy.InvalidToken
}

// refresh starts a fetch unless one is ongoing, and returns a channel that is closed
// when it ends; nil if the last fetch is too recent.
func (s *keySet) refresh(ctx context.Context, now time.Time) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ongoing != nil {
		return s.ongoing
	}
	if !s.tried.IsZero() && now.Sub(s.tried) < fetchEvery {
		return nil
	}
	v := s.verifier
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open.Err() != nil {
		return nil
	}
	s.tried, s.ongoing = now, make(chan struct{})
	v.fetching.Go(func() { s.fetch(ctx, now) })
	return s.ongoing
}

func (s *keySet) fetch(ctx context.Context, now time.Time) {
	keys, err := s.verifier.fetch(ctx, s.source)
	if err != nil {
		s.verifier.log.Warn(
			"could not fetch the keys of a token issuer",
			"issuer", s.source.issuer+s.source.jwks, "error", err.Error(),
		)
	} else {
		s.current.Store(&fetchedKeys{keys: keys, at: now})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err != nil
	close(s.ongoing)
	s.ongoing = nil
}

// wait waits for the end of a fetch. It returns false at once if maxWaiting calls
// already wait.
func (s *keySet) wait(done <-chan struct{}) bool {
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > maxWaiting {
		return false
	}
	<-done
	return true
}

func (s *keySet) lastFetchFailed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (f *fetchedKeys) fresh(now time.Time) bool { return f != nil && now.Sub(f.at) < staleAfter }

// matching returns the keys with that kid for the algorithm. A token may omit its kid
// if only one key matches (RFC 7515, 4.1.4).
func (f *fetchedKeys) matching(kid, algorithm string, now time.Time) []*publicKey {
	if !f.fresh(now) {
		return nil
	}
	for i := range f.keys { // the usual case, without a copy
		if kid != "" && f.keys[i].id == kid && f.keys[i].supports(algorithm) {
			return f.keys[i : i+1]
		}
	}
	if kid != "" {
		return nil
	}
	var found []*publicKey
	for i := range f.keys {
		if f.keys[i].supports(algorithm) {
			found = append(found, f.keys[i])
		}
	}
	if len(found) > 1 {
		return nil
	}
	return found
}
