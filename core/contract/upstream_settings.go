package contract

import "cmp"

// Upstream are the settings of an environment's upstream. A nil member means the default, and in a change it leaves the
// member unchanged. Answers have all members.
type Upstream struct {
	Timeouts UpstreamTimeouts `json:"timeouts,omitzero" flag:",each" audit:"each"`
	Retries  UpstreamRetries  `json:"retries,omitzero" flag:",each" audit:"each"`

	CA         UpstreamCA `json:"ca,omitzero" flag:",each" audit:"each" doc:"Certificate authorities that are trusted for the upstream's certificate"`
	ServerName *string    `json:"server_name,omitempty" doc:"Name that the upstream's certificate must have, and that is sent as the server name (SNI) in the TLS handshake. Only for https targets. Use \"\" for the target's host (the default)" example:"api.internal"`

	HostHeader *string `json:"host_header,omitempty" doc:"Value of the Host header in calls to the upstream: target for the target's host, caller for the custom domain that the caller used (or the target's host if the caller didn't use one), or a host name. Defaults to target" example:"caller"`

	UpstreamTargets

	Checks  UpstreamChecks  `json:"checks,omitzero" flag:",each" audit:"each"`
	Breaker UpstreamBreaker `json:"breaker,omitzero" flag:",each" audit:"each"`

	HTTP UpstreamHTTP `json:"http,omitempty" flag:"http" enum:"1.1,2,auto" doc:"HTTP version for calls to the upstream. 2 is HTTP/2, which gRPC requires: an https target must offer it in the TLS handshake (ALPN), and an http target must accept it without TLS (h2c). auto is HTTP/2 if an https target offers it, and HTTP/1.1 otherwise. Defaults to 1.1"`
}

// Stated returns the settings with the defaults of those that aren't set.
func (u Upstream) Stated() Upstream {
	u.Timeouts = u.Timeouts.Stated()
	u.Retries = u.Retries.Stated()
	targets := u.UpstreamTargets
	u.UpstreamTargets = targets.stated()
	u.Checks = u.Checks.Stated()
	u.Breaker = u.Breaker.Stated()
	u.CA = u.CA.Stated()
	u.ServerName = cmp.Or(u.ServerName, new(""))
	u.HostHeader = cmp.Or(u.HostHeader, new(HostOfTarget))
	u.HTTP = cmp.Or(u.HTTP, HTTP1)
	return u
}

// Over returns the settings was with the change u applied.
func (u Upstream) Over(was Upstream) Upstream {
	u.Timeouts = u.Timeouts.Over(was.Timeouts)
	u.Retries = u.Retries.Over(was.Retries)
	targets := u.UpstreamTargets
	u.UpstreamTargets = targets.over(was.UpstreamTargets)
	u.Checks = u.Checks.over(was.Checks)
	u.Breaker = u.Breaker.over(was.Breaker)
	u.CA = u.CA.Over(was.CA)
	u.ServerName = cmp.Or(u.ServerName, was.ServerName)
	u.HostHeader = cmp.Or(u.HostHeader, was.HostHeader)
	u.HTTP = cmp.Or(u.HTTP, was.HTTP)
	return u
}

// UpstreamHTTP is the version of HTTP that an upstream is called with.
type UpstreamHTTP string

// The versions.
const (
	HTTP1    UpstreamHTTP = "1.1"
	HTTP2    UpstreamHTTP = "2"    // by ALPN to an https target, with prior knowledge to an http target
	HTTPAuto UpstreamHTTP = "auto" // by ALPN to an https target, HTTP/1.1 to an http target
)
