package accounts

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"postern/fault"
)

// A window of attempts: maxPerSubject for one address or account, so that one
// cannot be guessed from many places, and maxPerSource for one caller, so that
// many cannot be tried from one.
const (
	throttleWindow = 15 * time.Minute
	maxPerSubject  = 10
	maxPerSource   = 30
	maxTracked     = 100_000
)

// attempt is something that is worth repeating for whoever guesses: to sign in,
// to sign up, to change a password.
type attempt struct {
	kind    string
	subject string // e-mail address or account
	from    From
}

func (a attempt) keys() (subject, caller string) {
	return a.kind + "\x00" + a.subject, "\x00" + source(a.from.RemoteAddr)
}

// throttle counts attempts in this process. Its zero value is ready.
type throttle struct {
	mu       sync.Mutex
	began    time.Time
	attempts map[string]int
}

func (t *throttle) allow(a attempt, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.attempts == nil || now.Sub(t.began) >= throttleWindow || len(t.attempts) > maxTracked {
		t.attempts, t.began = map[string]int{}, now
	}
	subject, caller := a.keys()
	if t.attempts[subject] >= maxPerSubject || t.attempts[caller] >= maxPerSource {
		return false
	}
	t.attempts[subject]++
	t.attempts[caller]++
	return true
}

// forget takes a success back out. Of the caller only this one: who clears the
// count by signing in to an account of their own could go on guessing others.
func (t *throttle) forget(a attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	subject, caller := a.keys()
	delete(t.attempts, subject)
	if t.attempts[caller] > 0 {
		t.attempts[caller]--
	}
}

func tooMany(what string) error {
	return fault.New(fault.TooMany, "too_many_attempts", "Too many attempts to %s. Wait a quarter of an hour and try again.", what)
}

// source is an address, or for IPv6 the network of 64 bits that one caller
// usually has to choose from (RFC 6177).
func source(remoteAddr string) string {
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		host = remoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Unmap().Is4() {
		return host
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}
