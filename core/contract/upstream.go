package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// UpstreamHeaderPath are the path parameters of an upstream header.
type UpstreamHeaderPath struct {
	EnvironmentPath
	Name string `path:"name" doc:"Name of the header" example:"X-Upstream-Token"`
}

// UpstreamHeader is a header that every call to an environment has at its upstream. Its value is never shown.
type UpstreamHeader struct {
	Name      string    `json:"name"`
	UpdatedAt time.Time `json:"updated_at" doc:"When its value was set; the value is never shown"`
}

// UpstreamHeaderValue is the value of an upstream header.
type UpstreamHeaderValue struct {
	Value Secret `json:"value" flag:"-" doc:"Write-only. Printable ASCII, at most 4096 bytes"`
}

// UpstreamHeaderUpdate is a request to set an upstream header.
type UpstreamHeaderUpdate struct {
	UpstreamHeaderPath
	Body UpstreamHeaderValue
}

// LogValue implements slog.LogValuer.
func (u UpstreamHeaderUpdate) LogValue() slog.Value { return slog.StringValue("set " + u.Name) }

// ClientCertificate is the certificate that calls to an environment present to its upstream. Its private key is never
// shown.
type ClientCertificate struct {
	Subject     string    `json:"subject" doc:"Distinguished name (RFC 2253)"`
	Issuer      string    `json:"issuer" doc:"Distinguished name of the issuer"`
	SHA256      string    `json:"sha256" doc:"Fingerprint of the certificate, in hex"`
	StartsAt    time.Time `json:"starts_at"`
	ExpiresAt   time.Time `json:"expires_at" doc:"After it, upstreams that check the certificate refuse calls"`
	Certificate string    `json:"certificate" doc:"The chain in PEM; the private key is never shown"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// NewClientCertificate is a certificate with its private key.
type NewClientCertificate struct {
	Certificate string `json:"certificate" flag:"-" doc:"PEM: the certificate, then those of its issuers"`
	PrivateKey  Secret `json:"private_key" flag:"-" doc:"Write-only. PEM, without a passphrase: RSA, ECDSA or Ed25519"`
}

// ClientCertificateUpdate is a request to set a client certificate.
type ClientCertificateUpdate struct {
	EnvironmentPath
	Body NewClientCertificate
}

// LogValue implements slog.LogValuer.
func (u ClientCertificateUpdate) LogValue() slog.Value {
	return slog.StringValue("set the client certificate of " + u.Environment)
}

// CallSigning is how calls to a project's upstreams are signed (RFC 9421).
type CallSigning struct {
	Enabled      bool         `json:"enabled"`
	DirectoryURL *string      `json:"directory_url" doc:"Where upstreams read the public keys as a JSON Web Key Set, without a credential; null while disabled"`
	Keys         []SigningKey `json:"keys" doc:"In the order in which they sign"`
}

// SigningKey is an Ed25519 key that signs calls.
type SigningKey struct {
	ID             string           `json:"id" doc:"Thumbprint of the public key (RFC 7638), and keyid of its signatures"`
	State          string           `json:"state" enum:"pending,signing,former" doc:"pending: published, and signs from signs_from on. former: published, and no longer signs"`
	PublicKey      SigningPublicKey `json:"public_key" doc:"A JSON Web Key"`
	SignsFrom      time.Time        `json:"signs_from"`
	PublishedUntil *time.Time       `json:"published_until" doc:"null until a later key follows"`
	CreatedAt      time.Time        `json:"created_at"`
}

// The states of a signing key. All of these keys are published.
const (
	SigningKeyPending = "pending" // signs from SignsFrom on
	SigningKeySigning = "signing"
	SigningKeyFormer  = "former" // signed until a later key followed
)

// SigningPublicKey is a JSON Web Key (RFC 8037).
type SigningPublicKey struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	X     string `json:"x"`
}

// SigningRotation says when a new key signs, and how long the keys before it stay published after that.
type SigningRotation struct {
	SignsInSeconds *int64 `json:"signs_in_seconds,omitempty" flag:"signs-in,duration" doc:"When the new key signs, in seconds; it is published at once. Up to 30 days; default: 1 hour; 0: at once, also in place of a key that does not sign yet"`
	GraceSeconds   *int64 `json:"grace_seconds,omitempty" flag:"grace,duration" doc:"How long the keys before it stay published after that, in seconds: up to 30 days; default: 1 day"`
}

// SigningKeyRotation is a request for another signing key.
type SigningKeyRotation struct {
	ProjectPath
	Body *SigningRotation // nil: the defaults
}

const (
	upstreamHeaders   = environment + "/upstream-headers"
	upstreamHeader    = upstreamHeaders + "/{name}"
	clientCertificate = environment + "/client-certificate"
	callSigning       = project + "/call-signing"
)

// The operations on what upstreams recognize a project's calls by: headers, client certificates and signatures.
var (
	ListUpstreamHeaders = Op[EnvironmentPath, List[UpstreamHeader]]{Operation{
		ID: "list-upstream-headers", Method: http.MethodGet, Path: upstreamHeaders, Permission: ReadProjects,
		Summary: "List the headers that an environment sets for its upstream",
		Command: "upstreams headers list PROJECT VERSION ENVIRONMENT",
		Doc:     "Lists their names. The values are never shown.",
	}}
	GetUpstreamHeader = Op[UpstreamHeaderPath, UpstreamHeader]{Operation{
		ID: "get-upstream-header", Method: http.MethodGet, Path: upstreamHeader, Permission: ReadProjects,
		Summary: "Get a header that an environment sets for its upstream",
		Command: "upstreams headers show PROJECT VERSION ENVIRONMENT NAME",
		Doc:     "Says when its value was set. The value is never shown.",
	}}
	SetUpstreamHeader = Op[UpstreamHeaderUpdate, UpstreamHeader]{Operation{
		ID: "set-upstream-header", Method: http.MethodPut, Path: upstreamHeader, Permission: UpdateProjects,
		Summary: "Set a header for an environment's upstream",
		Command: "upstreams headers set PROJECT VERSION ENVIRONMENT NAME",
		Example: "upstreams headers set shop 1.0.0 prod X-Upstream-Token --file token.txt",
		Doc: "Every call has the header at the upstream, with this value in place of the one that callers send. " +
			"The value is never shown again.",
	}}
	RemoveUpstreamHeader = Op[UpstreamHeaderPath, None]{Operation{
		ID: "remove-upstream-header", Method: http.MethodDelete, Path: upstreamHeader, Status: http.StatusNoContent,
		Summary: "Remove a header for an environment's upstream", Permission: UpdateProjects,
		Command: "upstreams headers remove PROJECT VERSION ENVIRONMENT NAME",
		Doc:     "What callers send under that name reaches the upstream again.",
	}}

	GetClientCertificate = Op[EnvironmentPath, ClientCertificate]{Operation{
		ID: "get-client-certificate", Method: http.MethodGet, Path: clientCertificate, Permission: ReadProjects,
		Summary: "Get the certificate that an environment presents to its upstream (mTLS)",
		Command: "upstreams certificate show PROJECT VERSION ENVIRONMENT",
		Doc:     "404 means that calls present no certificate. The private key is never shown.",
	}}
	SetClientCertificate = Op[ClientCertificateUpdate, ClientCertificate]{Operation{
		ID: "set-client-certificate", Method: http.MethodPut, Path: clientCertificate, Permission: UpdateProjects,
		Summary: "Present a certificate to an environment's upstream (mTLS)",
		Command: "upstreams certificate set PROJECT VERSION ENVIRONMENT",
		Example: "upstreams certificate set shop 1.0.0 prod --certificate client.crt --private-key client.key",
		Doc: "Replaces the earlier one; new connections present it from the next call on. The target has to be an " +
			"https URL.",
	}}
	RemoveClientCertificate = Op[EnvironmentPath, None]{Operation{
		ID: "remove-client-certificate", Method: http.MethodDelete, Path: clientCertificate,
		Status: http.StatusNoContent, Summary: "Stop presenting a certificate to an environment's upstream",
		Command: "upstreams certificate remove PROJECT VERSION ENVIRONMENT", Permission: UpdateProjects,
		Doc: "The private key is deleted. An upstream that requires a certificate refuses all calls from then on.",
	}}

	GetCallSigning = Op[ProjectPath, CallSigning]{Operation{
		ID: "get-call-signing", Method: http.MethodGet, Path: callSigning, Permission: ReadProjects,
		Summary: "Get the public keys that verify the signatures of a project's calls",
		Command: "upstreams signing show PROJECT",
		Doc:     "Upstreams read the keys at directory_url, without a credential.",
	}}
	EnableCallSigning = Op[ProjectPath, CallSigning]{Operation{
		ID: "enable-call-signing", Method: http.MethodPut, Path: callSigning, Permission: UpdateProjects,
		Summary: "Sign the calls of a project to its upstreams (RFC 9421)", Command: "upstreams signing enable PROJECT",
		Doc: "Calls have Signature-Input and Signature from the next one on. If they are signed already, nothing " +
			"changes.",
	}}
	DisableCallSigning = Op[ProjectPath, None]{Operation{
		ID: "disable-call-signing", Method: http.MethodDelete, Path: callSigning, Status: http.StatusNoContent,
		Summary: "Stop signing the calls of a project", Command: "upstreams signing disable PROJECT",
		Permission: UpdateProjects,
		Doc:        "Deletes the keys. If you enable it again, another key signs, which upstreams have to read first.",
	}}
	RotateCallSigningKey = Op[SigningKeyRotation, CallSigning]{Operation{
		ID: "rotate-call-signing-key", Method: http.MethodPost, Path: callSigning + "/rotate",
		Summary: "Sign the calls of a project with another key", Command: "upstreams signing rotate PROJECT",
		Example:    "upstreams signing rotate shop --signs-in 2h --grace 7d",
		Permission: UpdateProjects,
		Doc: "The new key is published at once and signs later, so that upstreams read it before they need it. The " +
			"keys before it stay published for a while after that. With 0 for both, for example after a key was " +
			"stolen, the earlier keys end at once.",
	}}
)

var upstreamOperations = []Described{
	ListUpstreamHeaders, GetUpstreamHeader, SetUpstreamHeader, RemoveUpstreamHeader, GetClientCertificate,
	SetClientCertificate, RemoveClientCertificate, GetCallSigning, EnableCallSigning, DisableCallSigning,
	RotateCallSigningKey,
}
