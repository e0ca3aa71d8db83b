package conformance

import (
	"strings"

	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// answers asks the upstream for every script, by methods that have an answer
// with a body and without.
func answers(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	var out []Case
	to := func(method string, scripts []scripted.Script, items ...string) {
		for _, s := range scripts {
			c := one("answer "+s.Name+" to "+method, method, projectHost, prod+scripted.Path+s.Name, k)
			out = append(out, differs([]Case{c}, items...)...)
		}
	}
	add := func(scripts []scripted.Script, items ...string) {
		to("GET", scripts, items...)
		to("HEAD", scripts, items...)
	}
	// ofBody is for what differs in a body, and not at all where there is none.
	ofBody := func(scripts []scripted.Script, items ...string) {
		from := len(out)
		add(scripts, items...)
		for i := range out[from:] {
			if strings.HasPrefix(out[from+i].Request, "HEAD") {
				out[from+i].Differs = nil
			}
		}
	}
	for _, group := range []func() []scripted.Script{
		scripted.LargeHeads, scripted.Accelerations, scripted.ContentTypes, scripted.Cookies, scripted.Fields,
		scripted.HopFields, scripted.Statuses, scripted.InterimEnds, scripted.LowStatuses,
		scripted.Framings, scripted.Surpluses, scripted.Truncations, scripted.Timings,
	} {
		add(group())
	}
	add(scripted.Absences(), ErrorBodies)
	add(scripted.BadLengths(), ErrorBodies)
	add(scripted.BadFields(), ErrorBodies)
	// To HEAD they would make the next case differ, as the ledger says: see
	// TestConformance_interimAnswers.
	to("GET", scripted.Interims(), InterimAnswers)
	add(scripted.UnaskedSwitches(), UnaskedSwitch)
	add(scripted.ControlCookies(), ControlCookies)
	add(scripted.RepeatedFields(), RepeatedFields)
	add(scripted.DescribedAbsences(), BodilessAnswers)
	add(scripted.ProxyConnections(), AnswerFields)
	add(scripted.NamedLengths(), BodyFraming)
	add(scripted.Trailers(), Trailers)
	ofBody(scripted.UnannouncedTrailers(), Trailers)
	ofBody(scripted.BadChunks(), MalformedAnswers)
	add(scripted.AmbiguousLengths(), MalformedAnswers)
	add(scripted.OddFields(), MalformedAnswers)
	add(scripted.OddStatusLines(), MalformedAnswers)
	return append(out, answersToBodies(k)...)
}

// answersToBodies asks for what depends on the request's body.
func answersToBodies(k string) []Case {
	var out []Case
	for _, s := range append(scripted.Timings(), scripted.Statuses()[:8]...) {
		target := prod + scripted.Path + s.Name
		out = append(out, withBody("answer "+s.Name+" to POST", "POST", projectHost, target, "hello", k, length(5)))
		c := withBody("answer "+s.Name+" to a chunked POST", "POST", projectHost, target, chunked("hello", "you"), k,
			asChunks)
		out = append(out, differs([]Case{c}, BodyFraming)...)
	}
	return out
}
