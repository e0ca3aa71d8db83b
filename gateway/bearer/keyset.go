package bearer

import (
	"sync"
	"sync/atomic"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// How long keys are good for, and how often their issuer is asked.
const (
	refreshAfter = 5 * time.Minute  // keys older than this are fetched anew, while they go on verifying
	staleAfter   = 24 * time.Hour   // keys older than this verify nothing, however long the issuer is away
	fetchEvery   = 30 * time.Second // an issuer is asked at most once in this time, whatever its tokens name
)

// maxWaiting bounds the calls that wait for one issuer's keys.
const maxWaiting = 200

// source is where keys come from.
type source struct{ issuer, jwks string }

func sourceOf(issuer *snapshot.TokenIssuer) source {
	if issuer.JWKSURL != "" {
		return source{jwks: issuer.JWKSURL}
	}
	return source{issuer: issuer.Issuer}
}

// keySet has the keys of one source.
type keySet struct {
	verifier *Verifier
	source   source
	current  atomic.Pointer[published] // nil before the first
	used     atomic.Int64              // when it was asked for last, Unix seconds
	waiting  atomic.Int64

	mu     sync.Mutex
	tried  time.Time     // when the last fetch began
	failed bool          // and whether it brought nothing
	under  chan struct{} // closed when the fetch under way ends; nil without one
}

// published is what a source had.
type published struct {
	keys []publicKey
	at   time.Time
}

// set finds the keys of an issuer, or begins to keep them.
func (v *Verifier) set(issuer *snapshot.TokenIssuer, now time.Time) *keySet {
	from := sourceOf(issuer)
	known, ok := v.sets.Load(from)
	if !ok {
		v.mu.Lock()
		if known, ok = v.sets.LoadOrStore(from, &keySet{verifier: v, source: from}); !ok {
			v.forget(now)
		}
		v.mu.Unlock()
	}
	s := known.(*keySet)
	if seconds := now.Unix(); s.used.Load() != seconds {
		s.used.Store(seconds)
	}
	return s
}

// forget lets go of sources that nobody has asked for since their keys were any good.
func (v *Verifier) forget(now time.Time) {
	v.sets.Range(func(from, known any) bool {
		if used := known.(*keySet).used.Load(); used > 0 && now.Sub(time.Unix(used, 0)) > staleAfter {
			v.sets.Delete(from)
		}
		return true
	})
}

// find returns the keys that may have signed a token, at least one; or why there
// are none. An unknown kid has the keys fetched, as far as fetchEvery lets it: made
// up ones must not become calls to an issuer.
func (s *keySet) find(kid, algorithm string, now time.Time) ([]publicKey, policy.Denial) {
	have := s.current.Load()
	if keys := have.fitting(kid, algorithm, now); len(keys) > 0 {
		if now.Sub(have.at) >= refreshAfter {
			s.refresh(now)
		}
		return keys, policy.Denial{}
	}
	if done := s.refresh(now); done != nil && !s.wait(done) {
		return nil, policy.IssuerUnavailable
	}
	have = s.current.Load()
	if keys := have.fitting(kid, algorithm, now); len(keys) > 0 {
		return keys, policy.Denial{}
	}
	if !have.good(now) || s.away() {
		return nil, policy.IssuerUnavailable // the kid may be one that we do not know yet
	}
	return nil, policy.InvalidToken
}

// refresh begins a fetch, or joins the one under way; nil when the last one is too
// recent.
func (s *keySet) refresh(now time.Time) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.under != nil {
		return s.under
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
	s.tried, s.under = now, make(chan struct{})
	v.fetching.Go(func() { s.fetch(now) })
	return s.under
}

func (s *keySet) fetch(now time.Time) {
	keys, err := s.verifier.fetch(s.source)
	if err != nil {
		s.verifier.log.Warn(
			"the keys of a token issuer cannot be fetched",
			"issuer", s.source.issuer+s.source.jwks, "error", err.Error(),
		)
	} else {
		s.current.Store(&published{keys: keys, at: now})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err != nil
	close(s.under)
	s.under = nil
}

// wait waits for the end of a fetch, unless too many do already.
func (s *keySet) wait(done <-chan struct{}) bool {
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > maxWaiting {
		return false
	}
	<-done
	return true
}

func (s *keySet) away() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (p *published) good(now time.Time) bool { return p != nil && now.Sub(p.at) < staleAfter }

// fitting lists the keys of that kid for the algorithm. A token may leave kid out
// where only one key fits (RFC 7515, 4.1.4).
func (p *published) fitting(kid, algorithm string, now time.Time) []publicKey {
	if !p.good(now) {
		return nil
	}
	for i := range p.keys { // the usual case, without a copy
		if kid != "" && p.keys[i].id == kid && p.keys[i].isFor(algorithm) {
			return p.keys[i : i+1]
		}
	}
	if kid != "" {
		return nil
	}
	var found []publicKey
	for i := range p.keys {
		if p.keys[i].isFor(algorithm) {
			found = append(found, p.keys[i])
		}
	}
	if len(found) > 1 {
		return nil
	}
	return found
}
