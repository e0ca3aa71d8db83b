package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/core/diagnosis"
	"postern/handlers/web"
	"postern/platform/secrets"
)

type diagnosisStep struct {
	Step    string `json:"step" example:"discovery"`
	Outcome string `json:"outcome" enum:"pass,warn,fail,skip"`
	Detail  string `json:"detail" doc:"What was found, or what is wrong and how to fix it"`
}

// diagnosisOutput is the report of a test.
type diagnosisOutput struct {
	Outcome string            `json:"outcome" enum:"pass,warn,fail" doc:"The worst of the steps"`
	Steps   []diagnosisStep   `json:"steps"`
	Target  *targetOutput     `json:"target,omitempty" doc:"What was measured of a target"`
	Keys    []issuerKeyOutput `json:"keys,omitempty" doc:"Public keys that can verify tokens"`
}

type targetOutput struct {
	AddressClass string     `json:"address_class,omitempty" enum:"public,private,loopback"`
	TLSVersion   string     `json:"tls_version,omitempty" example:"TLS 1.3"`
	Expires      *time.Time `json:"certificate_expires_at,omitempty" doc:"When the upstream's certificate ends"`
	Status       int        `json:"status,omitempty" doc:"Of the upstream's answer"`
	FirstByte    int64      `json:"first_byte_ms,omitempty" doc:"From the request to the first byte of the answer"`
}

type issuerKeyOutput struct {
	ID        string `json:"kid,omitempty"`
	Type      string `json:"type" example:"RSA 2048"`
	Algorithm string `json:"alg,omitempty" doc:"The only one that the key is for"`
}

func showDiagnosis(r diagnosis.Report, err error) (*body[diagnosisOutput], error) {
	if err != nil {
		return nil, err
	}
	out := diagnosisOutput{Outcome: string(r.Outcome()), Steps: []diagnosisStep{}}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, diagnosisStep{s.Step, string(s.Outcome), s.Detail})
	}
	for _, k := range r.Keys {
		out.Keys = append(out.Keys, issuerKeyOutput(k))
	}
	if t := r.Target; t != nil {
		out.Target = &targetOutput{
			AddressClass: string(t.Addresses),
			TLSVersion:   t.TLSVersion,
			Status:       t.Status,
			FirstByte:    t.FirstByte.Milliseconds(),
		}
		if !t.CertificateExpires.IsZero() {
			out.Target.Expires = &t.CertificateExpires
		}
	}
	return &body[diagnosisOutput]{out}, nil
}

func (h *Handler) checkTarget(ctx context.Context, in *EnvironmentRef) (*body[diagnosisOutput], error) {
	return showDiagnosis(h.Diagnostics.Target(ctx, web.Principal(ctx), in.Project, in.Environment))
}

func (h *Handler) testTokenIssuer(ctx context.Context, in *struct {
	VersionRef
	Body struct {
		contract.TokenIssuer
		Token string `json:"token,omitempty" doc:"A token to judge as the gateway does. It is not kept"`
	}
}) (*body[diagnosisOutput], error) {
	return showDiagnosis(h.Diagnostics.Issuer(
		ctx, web.Principal(ctx), in.Project, in.Version, in.Body.TokenIssuer, secrets.Given(in.Body.Token),
	))
}

func (h *Handler) testIntrospection(ctx context.Context, in *struct {
	VersionRef
	Body struct {
		Opaque *contract.NewIntrospection `json:"opaque,omitempty" doc:"Default: the version's own endpoint"`
		Token  string                     `json:"token,omitempty" doc:"A token to judge. It is not kept. Default: one never issued"`
	}
}) (*body[diagnosisOutput], error) {
	return showDiagnosis(h.Diagnostics.Introspection(
		ctx, web.Principal(ctx), in.Project, in.Version, readIntrospection(in.Body.Opaque),
		secrets.Given(in.Body.Token),
	))
}

func (h *Handler) testProvider(ctx context.Context, in *contract.ProviderPath) (*body[diagnosisOutput], error) {
	return showDiagnosis(h.Diagnostics.Provider(ctx, web.Principal(ctx), in.Provider))
}
