package kong

import (
	"slices"

	"postern/bundle"
	"postern/core/snapshot"
)

func retryFates() []bundle.Fate {
	const (
		how  = "retries of the service"
		slow = "Kong also retries a call that gets no response within read_timeout, unless its method is POST, LOCK " +
			"or PATCH. The hosted gateway returns 504 instead of retrying the call. At worst, the upstream processes " +
			"a slow call again with each retry, and the caller waits longer for the 504."
		remedy = `To get the same behavior on both gateways, add "timeout" to the environment's retry conditions, ` +
			"or set its retries to 0."
		statuses = "Kong doesn't retry calls based on the response status. At worst, callers get every 502, " +
			"503 or 504 that a retry on the hosted gateway would have avoided."
		clients = "Have clients retry failed calls, or put a load balancer in front of the upstream to retry them."
	)
	return []bundle.Fate{
		{Reason: "timeout", Status: bundle.Approximate, How: how, Note: slow, Remedy: remedy},
		{Reason: bundle.ReasonDefaults, Title: "Default retries", Status: bundle.Approximate, How: how, Note: slow,
			Remedy: remedy, Always: true},
		{Reason: "conditions", Status: bundle.Exact, How: how,
			Note: "Kong retries a call the same number of times if the connection fails or ends before a response, " +
				"or if there is no response in time."},
		{Reason: "none", Status: bundle.Exact, How: how,
			Note: "Kong doesn't retry calls either, except on reused connections (see the item \"Retried calls\")."},
		{Reason: "statuses", Status: bundle.Lossy, How: how, Note: statuses, Remedy: clients},
		{Reason: "statuses_without_timeout", Status: bundle.Lossy, How: how, Note: statuses + " " + slow,
			Remedy: clients + " " + remedy},
	}
}

func isStatus(c snapshot.RetryCondition) bool  { return c.Status() != 0 }
func isTimeout(c snapshot.RetryCondition) bool { return !isStatus(c) }

func judgeRetries(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	v := bundle.Verdict{Reason: "timeout"}
	switch r := s.Environment.Upstream.Retries.Stated(); {
	case r.AreDefaults():
		v.Reason = bundle.ReasonDefaults
	case *r.Max == 0:
		v.Reason = "none"
	case slices.ContainsFunc(*r.On, isStatus) && slices.ContainsFunc(*r.On, isTimeout):
		v.Reason = "statuses"
	case slices.ContainsFunc(*r.On, isStatus):
		v.Reason = "statuses_without_timeout"
	case len(*r.On) > 0:
		v.Reason = "conditions"
	}
	if found := layoutOf(b).of(s); len(found) > 0 {
		v.Target = bundle.At(gatewayFile, "/services/%d/retries", found[0].index)
	}
	return v
}
