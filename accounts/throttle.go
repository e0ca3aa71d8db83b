package accounts

import (
	"net"
	"sync"
	"time"
)

// A window of attempts: maxPerEmail for one address, so that one account cannot
// be guessed from many places, and maxPerSource for one caller, so that many
// accounts cannot be tried from one.
const (
	throttleWindow = 15 * time.Minute
	maxPerEmail    = 10
	maxPerSource   = 30
	maxTracked     = 100_000
)

// throttle counts attempts to sign in, in this process. Its zero value is ready.
type throttle struct {
	mu       sync.Mutex
	began    time.Time
	attempts map[string]int
}

func (t *throttle) allow(email, remoteAddr string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.attempts == nil || now.Sub(t.began) >= throttleWindow || len(t.attempts) > maxTracked {
		t.attempts, t.began = map[string]int{}, now
	}
	byEmail, bySource := "e:"+email, "s:"+source(remoteAddr)
	if t.attempts[byEmail] >= maxPerEmail || t.attempts[bySource] >= maxPerSource {
		return false
	}
	t.attempts[byEmail]++
	t.attempts[bySource]++
	return true
}

// forget clears the count of an address after a success.
func (t *throttle) forget(email, remoteAddr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.attempts, "e:"+email)
	delete(t.attempts, "s:"+source(remoteAddr))
}

func source(remoteAddr string) string {
	if host, _, err := net.SplitHostPort(remoteAddr); err == nil {
		return host
	}
	return remoteAddr
}
