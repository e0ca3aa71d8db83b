package projects

import (
	"context"
	"fmt"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// introspectionInput is requests_auth.opaque. A nil secret keeps the present one, and an
// empty one removes it.
type introspectionInput struct {
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
func needsOpaque(in contract.RequestsAuth, prefix string) []fault.Field {
	if in.Allows(snapshot.Opaque) {
		return nil
	}
	return []fault.Field{{
		Pointer: prefix + opaquePointer,
		Code:    "method_missing",
		Detail:  "Add opaque to the methods. Without it, tokens aren't checked.",
	}}
}

// checkEndpoint returns the fields of an introspection that are wrong. It looks up host
// names, so it is called outside of transactions.
func (s *Service) checkEndpoint(
	ctx context.Context, p access.Principal, prefix string, in *introspectionInput,
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

func (in *introspectionInput) check(at string) []fault.Field {
	var wrong []fault.Field
	refuse := func(ok bool, member, code, detail string) {
		if !ok {
			wrong = append(wrong, fault.Field{Pointer: at + member, Code: code, Detail: detail})
		}
	}
	refuse(
		in.method() != "", "/method", "invalid_method",
		"Use client_secret_basic (alias POST) to send the credentials as HTTP Basic, or client_secret_post to send "+
			"them in the form. GET isn't supported, because it would put tokens into URLs, which are logged.",
	)
	refuse(
		in.ClientID == "" || isAudience(in.ClientID), "/client_id", "invalid_client_id",
		fmt.Sprintf("Use at most %d printable ASCII characters without spaces.", maxAudience),
	)
	refuse(
		in.ClientSecret == nil || len(*in.ClientSecret) <= maxCredentials, "/client_secret",
		"invalid_client_secret", "This is too long for a client secret.",
	)
	refuse(
		in.ClientSecret == nil || *in.ClientSecret == "" || in.ClientID != "", "/client_id", "required",
		"A client secret requires a client ID. Enter the client ID that the endpoint issued to you.",
	)
	refuse(
		in.Issuer == "" || isAudience(in.Issuer), "/iss", "invalid_issuer",
		"Use the iss from the endpoint's responses, or omit iss.",
	)
	refuse(
		in.Audience == "" || isAudience(in.Audience), "/aud", "invalid_audience",
		"Use the aud from the endpoint's responses, or omit aud.",
	)
	return wrong
}

// method returns the method, "" if it is unknown.
func (in *introspectionInput) method() snapshot.IntrospectionMethod {
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
func (in *introspectionInput) needsItsSecret(have models.Version, prefix string) []fault.Field {
	kept := have.RequestsAuth.Introspection()
	same := in.Endpoint == kept.Endpoint && in.ClientID == kept.ClientID
	if have.IntrospectionSecret == nil || in.ClientSecret != nil || same {
		return nil
	}
	return []fault.Field{{
		Pointer: prefix + opaquePointer + "/client_secret",
		Code:    "required",
		Detail:  "A new endpoint or client ID requires the client secret. Send it again.",
	}}
}

// setIntrospection sets the version's introspection and seals its secret. nil changes
// nothing.
func (s *Service) setIntrospection(tx *models.Tx, team string, version *models.Version, in *introspectionInput) error {
	if in == nil {
		return nil
	}
	endpoint := in.Introspection
	endpoint.Method = in.method()
	version.RequestsAuth.Opaque = &contract.SavedIntrospection{Introspection: endpoint}
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

// keptIntrospection returns an endpoint as an input that keeps its secret, nil for none.
func keptIntrospection(a contract.RequestsAuth) *introspectionInput {
	if a.Opaque == nil {
		return nil
	}
	return &introspectionInput{Introspection: a.Opaque.Introspection}
}

// readIntrospection returns an introspection endpoint of a request, nil for nil.
func readIntrospection(in *contract.NewIntrospection) *introspectionInput {
	if in == nil {
		return nil
	}
	out := &introspectionInput{Introspection: in.Introspection}
	if in.ClientSecret != nil {
		out.ClientSecret = new(secrets.Given(in.ClientSecret.Reveal()))
	}
	return out
}
