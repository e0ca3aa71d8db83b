package engine

import "time"

// paceBytes is how much of an answer a caller has to read within Limits.Idle while the gateway waits for it.
const paceBytes = 64 << 10

// Pace limits the time that a caller may take to read the response, on HTTP/1.1 and HTTP/2: a limit for each write, and
// the same limit for each paceBytes. Time in which nothing waits to be written doesn't count. A caller that was faster
// before saves up at most one limit. The zero value is ready to use.
type Pace struct {
	lag time.Duration // the part of the limit that the caller has used, and not earned back by reading
}

// Wait returns how long a write of n bytes may take.
func (p *Pace) Wait(limit time.Duration, n int) time.Duration {
	return max(min(limit, limit-p.lag+earned(limit, n)), time.Nanosecond)
}

// Wrote notes a write of n bytes and how long it took.
func (p *Pace) Wrote(limit time.Duration, n int, took time.Duration) {
	p.lag = max(0, p.lag+took-earned(limit, n))
}

// Lags reports whether Wait is less than the limit for a write without bytes.
func (p *Pace) Lags() bool { return p.lag > 0 }

func earned(limit time.Duration, n int) time.Duration {
	return limit * time.Duration(min(n, paceBytes)) / paceBytes
}
