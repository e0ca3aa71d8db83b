package audit

import (
	"sync"
	"time"

	"postern/platform/fault"
)

// Limits on verifications: any reader of a log can start them as often as they like, and everything else needs the
// database too.
const (
	verifyWithin = 30 * time.Second // one of them; some million entries
	maxVerifying = 4                // at once, of all teams
)

var (
	errUnderWay = fault.New(fault.TooMany, "verification_under_way", "The log is already being verified. Wait for it "+
		"to finish, then try again.").After(5 * time.Second)
	errTooLong = fault.New(
		fault.Unavailable, "verification_too_long",
		"The log is too long to verify in a single request. Run `postern audit verify` on the server.",
	)
)

// verifications are the chains that are being verified, by team. Its zero value
// is ready.
type verifications struct {
	mu    sync.Mutex
	teams map[string]bool
}

// begin reports whether the team's chain may be verified now. If so, the caller
// calls end afterward.
func (v *verifications) begin(team string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.teams[team] || len(v.teams) >= maxVerifying {
		return false
	}
	if v.teams == nil {
		v.teams = map[string]bool{}
	}
	v.teams[team] = true
	return true
}

func (v *verifications) end(team string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.teams, team)
}
