package api

import (
	"context"
	"encoding/base64"
	"math"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/handlers/web"
	"postern/service/projects"
)

type callSigningOutput struct {
	Enabled      bool               `json:"enabled"`
	DirectoryURL *string            `json:"directory_url" doc:"Where upstreams read the public keys as a JSON Web Key Set, without a credential; null while disabled"`
	Keys         []signingKeyOutput `json:"keys" doc:"In the order in which they sign"`
}

type signingKeyOutput struct {
	ID             string              `json:"id" doc:"Thumbprint of the public key (RFC 7638), and keyid of its signatures"`
	State          string              `json:"state" enum:"pending,signing,former" doc:"pending: published, and signs from signs_from on. former: published, and no longer signs"`
	PublicKey      signingPublicOutput `json:"public_key" doc:"A JSON Web Key"`
	SignsFrom      time.Time           `json:"signs_from"`
	PublishedUntil *time.Time          `json:"published_until" doc:"null until a later key follows"`
	CreatedAt      time.Time           `json:"created_at"`
}

type signingPublicOutput struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	X     string `json:"x"`
}

func (h *Handler) showCallSigning(s projects.CallSigning) *body[callSigningOutput] {
	out := callSigningOutput{Enabled: len(s.Keys) > 0, Keys: []signingKeyOutput{}}
	if out.Enabled {
		url := h.Web.Config.ProjectAddress(s.Project) + policy.SigningDirectory
		out.DirectoryURL = &url
	}
	for _, k := range s.Keys {
		out.Keys = append(out.Keys, signingKeyOutput{
			ID:    k.ID,
			State: string(k.State),
			PublicKey: signingPublicOutput{
				"OKP", "Ed25519", k.ID, "sig", base64.RawURLEncoding.EncodeToString(k.Public),
			},
			SignsFrom:      k.SignsFrom.UTC(),
			PublishedUntil: contract.UTC(k.PublishedUntil),
			CreatedAt:      k.CreatedAt.UTC(),
		})
	}
	return &body[callSigningOutput]{out}
}

func (h *Handler) getCallSigning(ctx context.Context, in *ProjectRef) (*body[callSigningOutput], error) {
	s, err := h.Projects.CallSigning(ctx, web.Principal(ctx), in.Project)
	if err != nil {
		return nil, err
	}
	return h.showCallSigning(s), nil
}

func (h *Handler) enableCallSigning(ctx context.Context, in *ProjectRef) (*body[callSigningOutput], error) {
	s, err := h.Projects.EnableCallSigning(ctx, web.Principal(ctx), in.Project)
	if err != nil {
		return nil, err
	}
	return h.showCallSigning(s), nil
}

func (h *Handler) disableCallSigning(ctx context.Context, in *ProjectRef) (*struct{}, error) {
	return nil, h.Projects.DisableCallSigning(ctx, web.Principal(ctx), in.Project)
}

func (h *Handler) rotateCallSigningKey(ctx context.Context, in *struct {
	ProjectRef
	Body *struct {
		SignsIn *int64 `json:"signs_in_seconds,omitempty" doc:"When the new key signs; it is published at once. At most 2592000 (30 days). Default 3600. 0 also replaces a key that does not sign yet"`
		Grace   *int64 `json:"grace_seconds,omitempty" doc:"How long the keys before it stay published after that. At most 2592000 (30 days). Default 86400"`
	} `required:"false"`
}) (*body[callSigningOutput], error) {
	var rotation projects.SigningRotation
	if in.Body != nil {
		rotation = projects.SigningRotation{SignsIn: seconds(in.Body.SignsIn), Keep: seconds(in.Body.Grace)}
	}
	s, err := h.Projects.RotateSigningKey(ctx, web.Principal(ctx), in.Project, rotation)
	if err != nil {
		return nil, err
	}
	return h.showCallSigning(s), nil
}

// seconds converts a number that may overflow time.Duration. Such a number stays out of
// the range that is allowed; multiplied, it could wrap into it.
func seconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(-1)
	if *n >= 0 && *n <= int64(math.MaxInt64/time.Second) {
		d = time.Duration(*n) * time.Second
	}
	return &d
}
