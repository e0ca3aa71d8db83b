package accounts

import (
	"sync"
	"time"

	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// How many requests to addresses of their choice callers can request within outboundWindow, for one team and from one
// address. They leave room for a pipeline that publishes the documents of all services of a company.
const (
	outboundWindow     = 10 * time.Minute
	outboundPerTeam    = 60
	outboundPerAddress = 120
)

// Outbound counts the requests that this process sends on behalf of callers, such as fetching a document, testing a
// webhook or sending a delivery again. Its zero value is ready to use. It is safe for concurrent use.
type Outbound struct {
	once     sync.Once
	attempts Attempts
}

// Take counts one request for a team, "" for a caller without one. It returns TooMany too_many_requests if the team or
// the caller's address has reached its limit.
func (o *Outbound) Take(p access.Principal, team string) error {
	o.once.Do(func() { o.attempts.Window = outboundWindow })
	var bounds []Bound
	if team != "" {
		bounds = append(bounds, Bound{Key: team, Max: outboundPerTeam})
	}
	if p.RemoteAddr != "" { // not by a command on the server's own machine
		bounds = append(bounds, Bound{Key: "\x00" + policy.SourceName(p.RemoteAddr), Max: outboundPerAddress})
	}
	if !o.attempts.Take(models.Now(), bounds...) {
		return fault.New(fault.TooMany, "too_many_requests", "Postern has sent too many requests on your behalf. "+
			"Wait ten minutes and try again.").After(outboundWindow)
	}
	return nil
}
