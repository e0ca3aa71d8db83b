package certs

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"
)

// Bounds of the time before its end at which a certificate should have been renewed. ACME clients renew
// after two thirds of the lifetime.
const (
	soonAtMost = 7 * 24 * time.Hour
	soonShare  = 6 // of the lifetime of short-lived certificates
)

// remindEvery is how often the log repeats that a certificate ends, or has ended.
const remindEvery = 24 * time.Hour

// expiry logs that a certificate is about to end, or has ended.
type expiry struct {
	said  time.Time // when the log had it last
	ended bool      // what it had then
}

// look logs what is to be done about the certificate of a file, if it is time to.
func (e *expiry) look(log *slog.Logger, certFile string, pair *tls.Certificate) {
	now, leaf := time.Now(), pair.Leaf
	left := leaf.NotAfter.Sub(now)
	ended := left <= 0
	if left > min(soonAtMost, leaf.NotAfter.Sub(leaf.NotBefore)/soonShare) {
		*e = expiry{}
		return
	}
	if !e.said.IsZero() && e.ended == ended && now.Sub(e.said) < remindEvery {
		return
	}
	*e = expiry{said: now, ended: ended}
	if ended {
		log.Error("a TLS certificate has expired: renew it", "file", certFile, "ended", leaf.NotAfter)
		return
	}
	log.Warn("a TLS certificate is about to expire: renew it", "file", certFile, "ends", leaf.NotAfter)
}

// expired reports whether a certificate has ended.
func expired(pair *tls.Certificate) bool { return !pair.Leaf.NotAfter.After(time.Now()) }

// early reports whether a certificate is not valid yet.
func early(pair *tls.Certificate) bool { return pair.Leaf.NotBefore.After(time.Now()) }

// succeeds returns an error if a certificate that a file has now must not replace the one in use, nil for none, and
// whether it waits until it is valid.
func succeeds(certFile string, pair, inUse *tls.Certificate) (waits bool, err error) {
	if inUse == nil || expired(inUse) {
		return false, nil
	}
	if expired(pair) {
		ended := pair.Leaf.NotAfter.Format(time.RFC3339)
		return false, fmt.Errorf("the certificate in %s expired at %s", certFile, ended)
	}
	return early(pair) && !early(inUse), nil
}

// better reports whether a certificate is used instead of another one for the same name: if the other one alone is not
// valid yet, or else if it ends later.
func better(pair, other *tls.Certificate) bool {
	if early(pair) != early(other) && !expired(pair) && !expired(other) {
		return early(other)
	}
	return pair.Leaf.NotAfter.After(other.Leaf.NotAfter)
}

func logWaiting(log *slog.Logger, certFile string, pair *tls.Certificate) {
	log.Info("a new TLS certificate isn't valid yet; serving the previous one until it is", "file", certFile,
		"valid_from", pair.Leaf.NotBefore)
}

func warnIfEarly(log *slog.Logger, certFile string, pair *tls.Certificate) {
	if early(pair) {
		log.Warn("a TLS certificate that isn't valid yet is in use", "file", certFile,
			"valid_from", pair.Leaf.NotBefore)
	}
}

// Ends returns when the pair in use ends.
func (p *Pair) Ends() time.Time { return p.inUse.Load().Leaf.NotAfter }

// FirstEnd returns when the first of the directory's certificates ends, and whether there is one. If there are several
// for the same names, it counts the one in use.
func (d *Directory) FirstEnd() (first time.Time, found bool) {
	for _, pair := range *d.inUse.Load() {
		if !found || pair.Leaf.NotAfter.Before(first) {
			first, found = pair.Leaf.NotAfter, true
		}
	}
	return first, found
}
