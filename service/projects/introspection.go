package projects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/serving"
)

// IntrospectionInput is requests_auth.opaque. A nil secret keeps the present one, and an
// empty one removes it.
type IntrospectionInput struct {
	contract.Introspection // its method can be "", the default, or POST
	ClientSecret           *secrets.Secret
}

// IntrospectionPlace returns the place that a version's secret is sealed for.
func IntrospectionPlace(versionID string) secrets.Place {
	return secrets.Place{
		Table:   "versions",
		Row:     versionID,
		Column:  "introspection_secret",
		Purpose: secrets.ForGateways,
	}
}

const (
	opaquePointer  = "/opaque"
	maxCredentials = 1000 // bytes, of a client id or secret
)

// needsOpaque refuses an endpoint without the method opaque, which would have no effect.
func needsOpaque(in AuthInput, prefix string) []fault.Field {
	if slices.Contains(in.Methods, string(snapshot.Opaque)) {
		return nil
	}
	return []fault.Field{{
		Pointer: prefix + opaquePointer,
		Code:    "method_missing",
		Detail:  "Name opaque among the methods too, or no token is looked at.",
	}}
}

// checkEndpoint returns the fields of an introspection that are wrong. It looks up host
// names, so it is called outside of transactions.
func (s *Service) checkEndpoint(
	ctx context.Context, p access.Principal, prefix string, in *IntrospectionInput,
) ([]fault.Field, error) {
	if in == nil {
		return nil, nil
	}
	at := prefix + opaquePointer
	wrong := in.check(at)
	if field := checkTrusted(in.Endpoint, at+"/endpoint"); field != nil {
		return append(wrong, *field), nil
	}
	bounded, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	_, field, err := s.checkTarget(bounded, p, at+"/endpoint", in.Endpoint)
	if err != nil {
		return nil, err
	}
	if field != nil {
		wrong = append(wrong, *field)
	}
	return wrong, nil
}

func (in *IntrospectionInput) check(at string) []fault.Field {
	var wrong []fault.Field
	refuse := func(ok bool, member, code, detail string) {
		if !ok {
			wrong = append(wrong, fault.Field{Pointer: at + member, Code: code, Detail: detail})
		}
	}
	refuse(
		in.method() != "", "/method", "invalid_method",
		"Tokens are asked about by POST (RFC 7662): use POST or client_secret_basic to send the credentials as "+
			"HTTP Basic, client_secret_post to send them in the form. GET would put tokens into addresses, which "+
			"are logged.",
	)
	refuse(
		in.ClientID == "" || isAudience(in.ClientID), "/client_id", "invalid_client_id",
		fmt.Sprintf("Use at most %d printable ASCII characters without blanks.", maxAudience),
	)
	refuse(
		in.ClientSecret == nil || len(*in.ClientSecret) <= maxCredentials, "/client_secret",
		"invalid_client_secret", "This is no client secret: it is too long.",
	)
	refuse(
		in.ClientSecret == nil || *in.ClientSecret == "" || in.ClientID != "", "/client_id", "required",
		"A secret goes with a client ID. Give the one that the endpoint knows you by.",
	)
	refuse(
		in.Issuer == "" || isAudience(in.Issuer), "/iss", "invalid_issuer",
		"Give the iss that the endpoint answers with, or leave it out.",
	)
	refuse(
		in.Audience == "" || isAudience(in.Audience), "/aud", "invalid_audience",
		"Give the aud that the endpoint answers with, or leave it out.",
	)
	return wrong
}

// method returns the method, "" if it is unknown.
func (in *IntrospectionInput) method() snapshot.IntrospectionMethod {
	switch method := in.Method; {
	case method == "", method == snapshot.SecretBasic, strings.EqualFold(string(method), "POST"):
		return snapshot.SecretBasic
	case method == snapshot.SecretPost:
		return method
	}
	return ""
}

// needsItsSecret refuses to keep the secret for a new endpoint or client id: a member who
// changes the endpoint could read a secret that they do not have.
func (in *IntrospectionInput) needsItsSecret(have models.Version, prefix string) []fault.Field {
	same := in.Endpoint == have.Introspection.Endpoint && in.ClientID == have.Introspection.ClientID
	if have.IntrospectionSecret == nil || in.ClientSecret != nil || same {
		return nil
	}
	return []fault.Field{{
		Pointer: prefix + opaquePointer + "/client_secret",
		Code:    "required",
		Detail:  "The endpoint or its client ID changes: send the secret again.",
	}}
}

// setIntrospection sets the version's introspection and seals its secret. nil changes
// nothing.
func (s *Service) setIntrospection(tx *models.Tx, team string, version *models.Version, in *IntrospectionInput) error {
	if in == nil {
		return nil
	}
	version.Introspection = in.Introspection
	version.Introspection.Method = in.method()
	if in.ClientSecret == nil {
		return nil
	}
	version.IntrospectionSecret = nil
	if *in.ClientSecret == "" {
		return nil
	}
	var err error
	version.IntrospectionSecret, err = s.Vault.Seal(tx, team, IntrospectionPlace(version.ID), *in.ClientSecret)
	return err
}

// keptIntrospection returns the version's introspection as an input that keeps its secret.
func keptIntrospection(v models.Version) *IntrospectionInput {
	if v.Introspection.Endpoint == "" {
		return nil
	}
	return &IntrospectionInput{Introspection: v.Introspection}
}

// shownIntrospection returns nil for a version without an introspection endpoint.
func shownIntrospection(v models.Version) *contract.SavedIntrospection {
	if v.Introspection.Endpoint == "" {
		return nil
	}
	return new(serving.Introspection(v))
}

// ReadIntrospection returns an introspection endpoint of a request, nil for nil.
func ReadIntrospection(in *contract.NewIntrospection) *IntrospectionInput {
	if in == nil {
		return nil
	}
	out := &IntrospectionInput{Introspection: in.Introspection}
	if in.ClientSecret != nil {
		secret := secrets.Given(in.ClientSecret.Reveal())
		out.ClientSecret = &secret
	}
	return out
}
