package snapshot

import (
	"time"

	"postern/core/contract"
)

// Upstream are the settings of an environment's upstream.
type Upstream = contract.Upstream

// UpstreamTimeouts are the timeouts of an environment's upstream. nil means the default.
type UpstreamTimeouts = contract.UpstreamTimeouts

// UpstreamRetries say when calls are sent to an environment's upstream again. A nil member means the default.
type UpstreamRetries = contract.UpstreamRetries

// RetryCondition is something that a call is sent again for.
type RetryCondition = contract.RetryCondition

// UpstreamCA has the authorities that may have issued an upstream's certificate.
type UpstreamCA = contract.UpstreamCA

// UpstreamTargets are the targets of an environment's upstream, and how calls are spread over them.
type UpstreamTargets = contract.UpstreamTargets

// UpstreamTarget is one of the targets.
type UpstreamTarget = contract.UpstreamTarget

// UpstreamBalance is how calls are spread over targets.
type UpstreamBalance = contract.UpstreamBalance

// UpstreamChecks find targets that don't work. A nil member means the default.
type UpstreamChecks = contract.UpstreamChecks

// StatusRange has the statuses with which a check succeeds.
type StatusRange = contract.StatusRange

// UpstreamBreaker stops calls to a failing target. A nil member means the default.
type UpstreamBreaker = contract.UpstreamBreaker

// UpstreamHTTP is the version of HTTP that an upstream is called with.
type UpstreamHTTP = contract.UpstreamHTTP

// The versions.
const (
	HTTP1    = contract.HTTP1
	HTTP2    = contract.HTTP2
	HTTPAuto = contract.HTTPAuto
)

// How calls are spread over targets.
const (
	BalanceRoundRobin       = contract.BalanceRoundRobin
	BalanceLeastConnections = contract.BalanceLeastConnections
	HashKey                 = contract.HashKey
	HashOwner               = contract.HashOwner
	HashIP                  = contract.HashIP
	HashHeader              = contract.HashHeader
)

// UpstreamHeader is a header that the gateway adds to every call to an environment's upstream. Only the upstream and
// the gateway know its value.
type UpstreamHeader struct {
	Name   string // in the canonical form of net/http
	Sealed []byte // the encrypted value; the gateway opens it when it loads the project
}

// DataKey is an encrypted key that sealed values of a project were encrypted with. A gateway that starts while the
// database is unavailable decrypts them with this key.
type DataKey struct {
	ID             string // dek_… or dgk_…
	Wrapped        []byte
	GatewayWrapped []byte // for a gateway that has the gateway key alone
}

// CallSigningKey is an Ed25519 key with which calls to the project's upstreams are signed (RFC 9421). Only the newest
// key whose SignsFrom has passed signs.
type CallSigningKey struct {
	ID             string // thumbprint of the public key (RFC 7638)
	Public         []byte
	Sealed         []byte    // the encrypted private key; the gateway opens it when it loads the project
	SignsFrom      time.Time // UTC
	PublishedUntil time.Time // UTC; zero: until a later key follows
}

// ClientCertificate is the certificate that the gateway presents to an environment's upstream in the TLS handshake
// (mTLS).
type ClientCertificate struct {
	Chain  string // PEM, the leaf first
	Sealed []byte // the encrypted private key in PEM; the gateway opens it when it loads the project
}
