package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/policy"
)

// The ledger items that declare a difference, by code without the target's name.
// A case names the items that it shows.
const (
	AddressCertificate   = "environment.https_address"            // of a target that is an address
	ErrorBodies          = "request_limits.error_bodies"          // Kong's own error pages
	UpstreamCertificates = "request_limits.upstream_certificates" // a common name alone
	InterimAnswers       = "request_limits.interim_answers"       // 1xx
	UnaskedSwitch        = "request_limits.unasked_switch"        // 101 to a request that asked for none
	MalformedAnswers     = "request_limits.malformed_answers"     // that nginx takes, or refuses
	RepeatedFields       = "request_limits.repeated_fields"       // of which nginx keeps the first
	RefusedTwice         = "request_limits.fields_refused_twice"  // fields of requests that nginx takes once
	BodilessAnswers      = "request_limits.bodiless_answers"      // 204 and 304
	AnswerFields         = "request_limits.proxy_connection"      // Proxy-Connection
	ControlCookies       = "request_limits.control_cookies"       // cookies with the names of the dashboard's
	ForwardedFor         = "request_limits.forwarded_for"         // X_Forwarded_For
	RefusedRequests      = "request_limits.refused_requests"      // nginx's own checks of requests
	InvalidUTF8          = "request_limits.invalid_utf8"          // Kong's router reads text only
	BodyFraming          = "request_limits.body_framing"          // nginx chooses between a length and chunks
	Trailers             = "request_limits.trailers"              // nginx does not forward trailers
	SeveralOrigins       = "cors.several"                         // an empty Origin line, or one with a path
	TenantOrigins        = "tenant_cors.union"                    // pages of other tenants
	AnyTenantOrigin      = "tenant_cors.any_origin"               // pages of every origin
	RequestBodies        = "transform.request_bodies"             // long numbers, and what cjson takes for JSON
	ResponseBodies       = "transform.response_bodies"            // long numbers, scalars and large answers
)

// leaveOut removes from an outcome what an item declares, and nothing else.
var leaveOut = map[string]func(*outcome){
	AddressCertificate:   everything,
	UpstreamCertificates: everything,
	InterimAnswers:       everything,
	UnaskedSwitch:        everything,
	MalformedAnswers:     everything,
	RefusedRequests:      everything,
	RefusedTwice:         everything,
	InvalidUTF8:          everything,
	SeveralOrigins:       everything,
	TenantOrigins:        sameOrigin,
	AnyTenantOrigin:      sameOrigin,
	RequestBodies:        everything,
	ResponseBodies:       everything,

	ErrorBodies: func(o *outcome) {
		*o = outcome{
			Status:  o.Status,
			Limits:  o.Limits,
			Seen:    o.Seen,
			Interim: o.Interim,
			Answer:  crossOrigin(o.Answer),
		}
	},
	RepeatedFields: func(o *outcome) {
		for name := range o.Answer {
			field := strings.TrimPrefix(name, "X-New-") // what a transform of the corpus makes of it
			if policy.HasOneLine(field) || slices.Contains([]string{"Date", "Server", "Status"}, field) {
				o.Answer.Del(name)
			}
		}
	},
	BodilessAnswers: func(o *outcome) {
		o.Answer.Del("Content-Type")
		o.Answer.Del("Content-Length")
		o.ContentType, o.Framing = "", ""
	},
	AnswerFields: func(o *outcome) { o.Answer.Del("Proxy-Connection") },
	ControlCookies: func(o *outcome) {
		o.Answer.Del("Set-Cookie")
		ofSeen(o, func(s *seen) { s.Headers.Del("Cookie") })
	},
	ForwardedFor: func(o *outcome) { ofSeen(o, func(s *seen) { s.Headers.Del("X-Forwarded-For") }) },
	BodyFraming: func(o *outcome) {
		ofSeen(o, unframed)
		o.Answer.Del("Content-Length")
		o.Framing = ""
	},
	Trailers: func(o *outcome) {
		o.Answer.Del("Trailer")
		o.Trailers = nil
		ofSeen(o, func(s *seen) {
			s.Trailers = nil
			s.Headers.Del("Trailer")
		})
	},
}

// crossOrigin returns the fields that let pages of other origins read an answer.
func crossOrigin(answer http.Header) http.Header {
	out := http.Header{}
	for name, lines := range answer {
		if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
			out[name] = lines
		}
	}
	return out
}

// sameOrigin leaves out what crossOrigin returns.
func sameOrigin(o *outcome) {
	for name := range crossOrigin(o.Answer) {
		o.Answer.Del(name)
	}
}

func everything(o *outcome) { *o = outcome{} }

func ofSeen(o *outcome, change func(*seen)) {
	for i := range o.Seen {
		change(&o.Seen[i])
	}
}

func unframed(s *seen) {
	s.Headers.Del("Content-Length")
	s.Length, s.Encoding = 0, nil
}

// clone is deep enough for leaveOut and comparable.
func (o outcome) clone() outcome {
	o.Answer, o.Limits = o.Answer.Clone(), maps.Clone(o.Limits)
	o.Seen = append([]seen(nil), o.Seen...)
	ofSeen(&o, func(s *seen) { s.Headers = s.Headers.Clone() })
	return o
}

// differs marks cases with the items that declare their differences.
func differs(cases []Case, items ...string) []Case {
	for i := range cases {
		cases[i].Differs = append(cases[i].Differs, items...)
	}
	return cases
}

// outcome is everything a case led to.
type outcome struct {
	Status        int
	Body          string
	Code          string // of a JSON body
	Challenge     string // WWW-Authenticate
	ContentType   string
	Limits        map[string]string // fields that tell where the caller stands
	Answer        http.Header       // the other fields of the answer
	Trailers      http.Header       // of the answer
	Framing       string            // how the end of the body was announced
	Interim       []int             // statuses of 1xx answers before the final one
	Seen          []seen
	Echo          string
	ConnectionErr string
}

// The corpus is of a size worth the name, can be run case by case, and names
// only differences that an export declares.
func TestCorpus(t *testing.T) {
	up := newUpstream(t)
	up.secure = newSecureUpstreams(t)
	declared := declarations(t, export(t, up))
	cases, exact := Corpus(), 0
	names := map[string]bool{}
	for _, c := range cases {
		if names[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		names[c.Name] = true
		for _, item := range c.Differs {
			if !declared[item] || leaveOut[item] == nil {
				t.Errorf("%s: %s is not declared by the ledger, or not left out of the comparison", c.Name, item)
			}
		}
		if len(c.Differs) == 0 {
			exact++
		}
	}
	if exact < 900 {
		t.Errorf("%d of %d cases are exact, want at least 900", exact, len(cases))
	}
}
