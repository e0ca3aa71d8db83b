package kong

import (
	"slices"
	"strconv"

	"postern/bundle"
	"postern/core/snapshot"
)

// timeouts are the timeouts of a service, in milliseconds.
type timeouts struct{ connect, read, write int }

// timeoutsOf returns the timeouts of an environment's service. Kong has one for the wait for a response and for pauses
// in it, and takes the longer: it must not cut off calls that the hosted gateway lets through.
func timeoutsOf(e *snapshot.Environment) timeouts {
	t := e.Upstream.Timeouts.Stated()
	return timeouts{connect: *t.ConnectMS, read: max(*t.ResponseMS, *t.IdleMS), write: *t.IdleMS}
}

// keepalive returns for how many seconds Kong keeps idle connections to upstreams: for all, the shortest time of an
// environment.
func keepalive(p *snapshot.Project) string {
	all := []int{}
	for i := range p.Versions {
		for _, e := range p.Versions[i].Environments {
			all = append(all, *e.Upstream.Timeouts.Stated().ReuseIdleMS)
		}
	}
	if len(all) == 0 {
		all = append(all, *snapshot.UpstreamTimeouts{}.Stated().ReuseIdleMS)
	}
	return strconv.Itoa(max(1, slices.Min(all)/1000))
}

func timeoutFates() []bundle.Fate {
	const (
		how     = "connect_timeout, read_timeout and write_timeout of the service"
		streams = "Kong has the same timeouts for connecting, for waiting for a response, and for pauses within the " +
			"response. It has no separate timeout for event streams and WebSockets, so read_timeout applies to them " +
			"too. At worst, a stream that is silent for longer than read_timeout is cut off, and a WebSocket is " +
			"closed without a close frame. A stream that the hosted gateway would cut off earlier remains open until " +
			"read_timeout."
		remedy = "Have streams send something, such as a comment or a ping, at intervals shorter than read_timeout."
	)
	return []bundle.Fate{
		{Reason: "streams", Status: bundle.Approximate, How: how, Note: streams, Remedy: remedy},
		{Reason: bundle.ReasonDefaults, Title: "Default timeouts", Status: bundle.Approximate, How: how, Note: streams,
			Remedy: remedy, Always: true},
		{Reason: "read_timeout", Status: bundle.Approximate,
			How: how + "; read_timeout is the longer of response_ms and idle_ms",
			Note: "Kong has a single timeout for waiting for a response and for pauses within it, including in event " +
				"streams and WebSockets. This timeout is the longer of the environment's response_ms and idle_ms. At " +
				"worst, a call to an upstream that has stopped responding ends only after this time, a stream that " +
				"is silent for longer is cut off, and a WebSocket is closed without a close frame.",
			Remedy: "To get the same timeouts on both gateways, set response_ms and idle_ms to the same value."},
	}
}

func judgeTimeouts(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	v := bundle.Verdict{Reason: "streams"}
	switch t := s.Environment.Upstream.Timeouts.Stated(); {
	case t.AreDefaults():
		v.Reason = bundle.ReasonDefaults
	case *t.ResponseMS != *t.IdleMS:
		v.Reason = "read_timeout"
	}
	if found := layoutOf(b).of(s); len(found) > 0 {
		v.Target = bundle.At(gatewayFile, "/services/%d/read_timeout", found[0].index)
	}
	return v
}
