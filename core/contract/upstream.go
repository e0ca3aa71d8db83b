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

// UpstreamHeader is a header that the gateway adds to every call to an environment's upstream. Its value is never
// shown.
type UpstreamHeader struct {
	Name      string    `json:"name"`
	UpdatedAt time.Time `json:"updated_at" doc:"When the value was set. The value is never shown"`
}

// UpstreamHeaderValue is the value of an upstream header.
type UpstreamHeaderValue struct {
	Value Secret `json:"value" flag:"-" doc:"Write-only. Printable ASCII, up to 4,096 bytes"`
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
	SHA256      string    `json:"sha256" doc:"Fingerprint of the certificate, in hexadecimal"`
	StartsAt    time.Time `json:"starts_at"`
	ExpiresAt   time.Time `json:"expires_at" doc:"When the certificate expires. Upstreams that check it refuse calls after that"`
	Certificate string    `json:"certificate" doc:"Certificate chain in PEM. The private key is never shown"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// NewClientCertificate is a certificate with its private key.
type NewClientCertificate struct {
	Certificate string `json:"certificate" flag:"-" doc:"Certificate in PEM, followed by its issuers' certificates"`
	PrivateKey  Secret `json:"private_key" flag:"-" doc:"Write-only. RSA, ECDSA or Ed25519 private key in PEM, without a passphrase"`
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
	DirectoryURL *string      `json:"directory_url" doc:"URL of the public keys as a JSON Web Key Set. No credential is required; null while disabled"`
	Keys         []SigningKey `json:"keys" doc:"Keys, ordered by when they start signing"`
}

// SigningKey is an Ed25519 key that signs calls.
type SigningKey struct {
	ID             string           `json:"id" doc:"Thumbprint of the public key (RFC 7638), used as keyid in signatures"`
	State          string           `json:"state" enum:"pending,signing,former" doc:"A pending key is published and starts signing at signs_from. A former key is still published but no longer signs"`
	PublicKey      SigningPublicKey `json:"public_key" doc:"Public key as a JSON Web Key"`
	SignsFrom      time.Time        `json:"signs_from"`
	PublishedUntil *time.Time       `json:"published_until" doc:"null until a newer key replaces it"`
	CreatedAt      time.Time        `json:"created_at"`
}

// The states of a signing key. All of these keys are published.
const (
	SigningKeyPending = "pending" // signs from SignsFrom on
	SigningKeySigning = "signing"
	SigningKeyFormer  = "former" // signed until a newer key replaced it
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
	SignsInSeconds *int64 `json:"signs_in_seconds,omitempty" flag:"signs-in,duration" doc:"Time until the new key starts signing, in seconds, up to 30 days. Use 0 to start immediately and replace any pending key. Defaults to 1 hour"`
	GraceSeconds   *int64 `json:"grace_seconds,omitempty" flag:"grace,duration" doc:"How long the previous keys stay published after the new key starts signing, in seconds, up to 30 days. Defaults to 1 day"`
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

// The operations on headers, client certificates and signatures, by which upstreams recognize a project's calls.
var (
	ListUpstreamHeaders = &Op[EnvironmentPath, List[UpstreamHeader]]{Operation{
		ID: "list-upstream-headers", Method: http.MethodGet, Path: upstreamHeaders, Permission: ReadProjects,
		Summary: "List an environment's upstream headers",
		Command: "upstreams headers list PROJECT VERSION ENVIRONMENT",
		Doc:     "Lists the names of the headers that the gateway adds to every call. Values are never shown.",
	}}
	GetUpstreamHeader = &Op[UpstreamHeaderPath, UpstreamHeader]{Operation{
		ID: "get-upstream-header", Method: http.MethodGet, Path: upstreamHeader, Permission: ReadProjects,
		Summary: "Get an upstream header for an environment",
		Command: "upstreams headers show PROJECT VERSION ENVIRONMENT NAME",
		Doc:     "Returns when the value was set. The value is never shown.",
	}}
	SetUpstreamHeader = &Op[UpstreamHeaderUpdate, UpstreamHeader]{Operation{
		ID: "set-upstream-header", Method: http.MethodPut, Path: upstreamHeader, Permission: UpdateProjects,
		Summary: "Set an upstream header for an environment",
		Command: "upstreams headers set PROJECT VERSION ENVIRONMENT NAME",
		Example: "upstreams headers set shop 1.0.0 prod X-Upstream-Token --file token.txt",
		Doc: "The gateway adds the header to every call and replaces any value that callers send. The value is never " +
			"shown again.",
	}}
	RemoveUpstreamHeader = &Op[UpstreamHeaderPath, None]{Operation{
		ID: "remove-upstream-header", Method: http.MethodDelete, Path: upstreamHeader, Status: http.StatusNoContent,
		Summary: "Remove an upstream header from an environment", Permission: UpdateProjects,
		Command: "upstreams headers remove PROJECT VERSION ENVIRONMENT NAME",
		Doc:     "The gateway stops adding the header. If callers send it, their value reaches the upstream again.",
	}}

	GetClientCertificate = &Op[EnvironmentPath, ClientCertificate]{Operation{
		ID: "get-client-certificate", Method: http.MethodGet, Path: clientCertificate, Permission: ReadProjects,
		Summary: "Get an environment's client certificate (mTLS)",
		Command: "upstreams certificate show PROJECT VERSION ENVIRONMENT",
		Doc:     "Returns 404 if there is no certificate. The private key is never shown.",
	}}
	SetClientCertificate = &Op[ClientCertificateUpdate, ClientCertificate]{Operation{
		ID: "set-client-certificate", Method: http.MethodPut, Path: clientCertificate, Permission: UpdateProjects,
		Summary: "Set an environment's client certificate (mTLS)",
		Command: "upstreams certificate set PROJECT VERSION ENVIRONMENT",
		Example: "upstreams certificate set shop 1.0.0 prod --certificate client.crt --private-key client.key",
		Doc: "The gateway presents the certificate to the upstream on new connections. It replaces the existing " +
			"certificate. The target must be an https URL.",
	}}
	RemoveClientCertificate = &Op[EnvironmentPath, None]{Operation{
		ID: "remove-client-certificate", Method: http.MethodDelete, Path: clientCertificate,
		Status: http.StatusNoContent, Summary: "Remove an environment's client certificate",
		Command: "upstreams certificate remove PROJECT VERSION ENVIRONMENT", Permission: UpdateProjects,
		Doc: "The private key is deleted. An upstream that requires a certificate will refuse all calls.",
	}}

	GetCallSigning = &Op[ProjectPath, CallSigning]{Operation{
		ID: "get-call-signing", Method: http.MethodGet, Path: callSigning, Permission: ReadProjects,
		Summary: "Get the keys that sign a project's calls",
		Command: "upstreams signing show PROJECT",
		Doc: "Returns the public keys that verify the signatures. Upstreams fetch them from directory_url, without " +
			"a credential.",
	}}
	EnableCallSigning = &Op[ProjectPath, CallSigning]{Operation{
		ID: "enable-call-signing", Method: http.MethodPut, Path: callSigning, Permission: UpdateProjects,
		Summary: "Sign a project's calls to its upstreams (RFC 9421)", Command: "upstreams signing enable PROJECT",
		Doc: "Starting with the next call, all calls have Signature-Input and Signature headers. If calls are " +
			"already signed, nothing changes.",
	}}
	DisableCallSigning = &Op[ProjectPath, None]{Operation{
		ID: "disable-call-signing", Method: http.MethodDelete, Path: callSigning, Status: http.StatusNoContent,
		Summary: "Stop signing a project's calls", Command: "upstreams signing disable PROJECT",
		Permission: UpdateProjects,
		Doc: "Also deletes the keys. If you enable signing again, Postern creates a new key, which upstreams must " +
			"fetch.",
	}}
	RotateCallSigningKey = &Op[SigningKeyRotation, CallSigning]{Operation{
		ID: "rotate-call-signing-key", Method: http.MethodPost, Path: callSigning + "/rotate",
		Summary: "Rotate the key that signs a project's calls", Command: "upstreams signing rotate PROJECT",
		Example:    "upstreams signing rotate shop --signs-in 2h --grace 7d",
		Permission: UpdateProjects,
		Doc: "The new key is published immediately and starts signing later, so upstreams can fetch it first. The " +
			"previous keys stay published for a grace period after that. If a key was stolen, set both durations to " +
			"0 to withdraw the previous keys immediately.",
	}}
)

var upstreamOperations = []Described{
	ListUpstreamHeaders, GetUpstreamHeader, SetUpstreamHeader, RemoveUpstreamHeader, GetClientCertificate,
	SetClientCertificate, RemoveClientCertificate, GetCallSigning, EnableCallSigning, DisableCallSigning,
	RotateCallSigningKey, ListUpstreams,
}
