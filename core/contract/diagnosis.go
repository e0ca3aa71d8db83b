package contract

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// Diagnosis is the report of a test of something that a project depends on.
type Diagnosis struct {
	Outcome TestOutcome   `json:"outcome" enum:"pass,warn,fail" doc:"Worst outcome of all steps"`
	Steps   []TestStep    `json:"steps"`
	Target  *TestedTarget `json:"target,omitempty" doc:"Measurements of the target"`
	Keys    []IssuerKey   `json:"keys,omitempty" doc:"Public keys that can verify tokens"`
}

// TestOutcome is the outcome of a step, and of a whole test.
type TestOutcome string

// The outcomes, from the best to the worst. A skipped step says why it does not apply or could not be tried.
const (
	TestSkip TestOutcome = "skip"
	TestPass TestOutcome = "pass"
	TestWarn TestOutcome = "warn"
	TestFail TestOutcome = "fail"
)

// outcomeNames name the outcomes for people.
var outcomeNames = map[TestOutcome]string{
	TestPass: "passed", TestWarn: "warning", TestFail: "failed", TestSkip: "skipped",
}

// Name returns the outcome's name for people.
func (o TestOutcome) Name() string { return outcomeNames[o] }

// TestStep is one step of a test.
type TestStep struct {
	Step    string      `json:"step" example:"discovery"`
	Outcome TestOutcome `json:"outcome" enum:"pass,warn,fail,skip"`
	Detail  string      `json:"detail" doc:"Finding, or the problem and how to fix it"`
}

// stepNames name the steps of reports for people.
var stepNames = map[string]string{
	"connect":     "Connection",
	"tls":         "TLS",
	"credentials": "Credentials",
	"answer":      "Response",
	"discovery":   "Discovery",
	"endpoints":   "Endpoints",
	"endpoint":    "Endpoint",
	"keys":        "Keys",
	"cache":       "Last fetch",
	"token":       "Token",
	"decision":    "Decision",
	"client":      "Client",
	"callback":    "Callback URL",
}

// Name returns the step's name for people.
func (s TestStep) Name() string { return cmp.Or(stepNames[s.Step], s.Step) }

// TestedTarget has the measurements of a target. A field is zero if the test ended before it was measured.
type TestedTarget struct {
	AddressClass         AddressClass `json:"address_class,omitempty" enum:"public,private,loopback"`
	TLSVersion           string       `json:"tls_version,omitempty" example:"TLS 1.3"`
	CertificateExpiresAt *time.Time   `json:"certificate_expires_at,omitempty" doc:"When the upstream's certificate expires"`
	Status               int          `json:"status,omitempty" doc:"Status of the upstream's response"`
	FirstByteMS          Milliseconds `json:"first_byte_ms,omitempty" doc:"Time from the request to the first byte of the response"`

	CA *OfferedCA `json:"ca,omitempty" doc:"Last certificate in the chain of an upstream whose certificate authority isn't trusted. Verify the fingerprint before you set this certificate as ca"`
}

// OfferedCA is a certificate that an upstream sent and that its environment could trust as an authority.
type OfferedCA struct {
	Subject   string    `json:"subject" example:"CN=Example internal CA"`
	SHA256    string    `json:"sha256" doc:"SHA-256 fingerprint, in hexadecimal"`
	ExpiresAt time.Time `json:"expires_at"`
	PEM       string    `json:"pem" doc:"The certificate in PEM"`
}

// AddressClass says in which kind of network the target's address is.
type AddressClass string

// The classes. Addresses other than public ones are reached only where the operator allows it.
const (
	AddressPublic   AddressClass = "public"
	AddressPrivate  AddressClass = "private"
	AddressLoopback AddressClass = "loopback"
)

// IssuerKey is a public key of an issuer.
type IssuerKey struct {
	ID        string `json:"kid,omitempty"`
	Type      string `json:"type" example:"RSA 2048"`
	Algorithm string `json:"alg,omitempty" doc:"The only algorithm that the key can be used with"`
}

// IssuerToTest is an issuer and a token to test it with. No version has to accept the issuer.
type IssuerToTest struct {
	TokenIssuer
	Token Secret `json:"token,omitempty" flag:"-" doc:"Token to check as the gateway would. It isn't stored"`
}

// TokenIssuerTest is a request to test an issuer as a version would use it.
type TokenIssuerTest struct {
	VersionPath
	Body IssuerToTest
}

// LogValue implements slog.LogValuer.
func (t TokenIssuerTest) LogValue() slog.Value { return slog.StringValue(t.Body.Issuer) }

// IntrospectionToTest is an introspection endpoint, nil for the version's own, and a token to test it with.
type IntrospectionToTest struct {
	Opaque *NewIntrospection `json:"opaque,omitempty" flag:"-" doc:"Endpoint to test. Defaults to the version's endpoint"`
	Token  Secret            `json:"token,omitempty" flag:"-" doc:"Token to check. It isn't stored. Defaults to a token that was never issued"`
}

// IntrospectionTest is a request to test an introspection endpoint as a version would use it.
type IntrospectionTest struct {
	VersionPath
	Body IntrospectionToTest
}

// LogValue implements slog.LogValuer.
func (t IntrospectionTest) LogValue() slog.Value { return slog.StringValue(t.Version) }

// The operations that test what a project depends on. They change nothing.
var (
	CheckTarget = &Op[EnvironmentPath, Diagnosis]{Operation{
		ID: "check-target", Method: http.MethodPost, Path: environment + "/check", Permission: UpdateProjects,
		Summary: "Check that the gateway can reach an environment's target",
		Command: "upstreams check PROJECT VERSION ENVIRONMENT", Example: "upstreams check shop 1.0.0 prod",
		Doc: "Sends one request the way the gateway forwards calls, with the same address checks, TLS settings " +
			"and upstream credentials. It doesn't follow redirects.",
	}}
	TestTokenIssuer = &Op[TokenIssuerTest, Diagnosis]{Operation{
		ID: "test-token-issuer", Method: http.MethodPost, Path: version + "/token-issuers/test",
		Permission: UpdateProjects,
		Summary:    "Test that the gateway can verify an issuer's tokens",
		Command:    "versions test-issuer PROJECT VERSION ISS AUD",
		Example:    "versions test-issuer shop 1.0.0 https://accounts.example.com https://api.example.com",
		Doc: "Fetches the issuer's discovery document and keys. If you send a token, the response also contains the " +
			"gateway's decision and the reason. You can test an issuer that the version doesn't use.",
	}}
	TestIntrospection = &Op[IntrospectionTest, Diagnosis]{Operation{
		ID: "test-introspection", Method: http.MethodPost, Path: version + "/introspection/test",
		Permission: UpdateProjects,
		Summary:    "Test the introspection endpoint for opaque tokens",
		Command:    "versions test-introspection PROJECT VERSION",
		Example:    "versions test-introspection shop 1.0.0 --token-file -",
		Doc: "Sends the token, or a random token that was never issued, to the endpoint. The response contains the " +
			"gateway's decision and the reason. The version's client secret is sent only to the version's own " +
			"endpoint.",
	}}
	TestProvider = &Op[ProviderPath, Diagnosis]{Operation{
		ID: "test-provider", Method: http.MethodPost, Path: provider + "/test", Permission: UpdateLogin,
		Summary: "Test a provider without signing in", Command: "providers test PROVIDER",
		Doc: "Fetches the provider's discovery document and keys, and checks that it accepts the client ID and secret.",
	}}
)

var diagnosisOperations = []Described{CheckTarget, TestTokenIssuer, TestIntrospection, TestProvider}
