package projects

import (
	"cmp"
	"context"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// plan is a checked CreateInput with every default filled in.
type plan struct {
	CreateInput
	auth         contract.RequestsAuth
	opaque       *introspectionInput // nil: none
	nameGiven    bool
	environments []models.Environment // without ids
	document     *checkedDocument     // nil: none
}

// plan checks the request. Its fault names all invalid fields.
func (s *Service) plan(ctx context.Context, p access.Principal, in CreateInput) (plan, error) {
	document, err := s.fillFromOpenAPI(ctx, p, &in)
	if err != nil {
		return plan{}, err
	}
	wrong := in.applyLoginDefaults()
	out := plan{CreateInput: in, nameGiven: in.Name != "", document: document}
	out.Version = cmp.Or(out.Version, "1.0.0")
	wrong = append(wrong, out.checkNames()...)
	authWrong, err := s.planAuth(ctx, p, &out)
	if err != nil {
		return out, err
	}
	var typesWrong []fault.Field
	out.Auth.KeyTypes, typesWrong = withBuiltIns(in.Auth.KeyTypes)
	targetsWrong, err := s.planTargets(ctx, p, &out)
	if err != nil {
		return out, err
	}
	loginWrong, err := s.checkLogin(ctx, p, out)
	if err != nil {
		return out, err
	}
	return out, fault.InvalidFields(slices.Concat(wrong, authWrong, typesWrong, targetsWrong, loginWrong))
}

// checkNames checks everything that the new project is to be called.
func (p plan) checkNames() (wrong []fault.Field) {
	wrong = append(wrong, checkVersionName("/version", p.Version)...)
	if p.nameGiven && !ValidName(p.Name) {
		wrong = append(wrong, nameFault("/name"))
	}
	wrong = append(wrong, checkDisplayName(p.DisplayName)...)
	if p.Product != "" && !ValidName(p.Product) {
		wrong = append(wrong, nameFault("/product"))
	}
	if p.Tenant != "" {
		wrong = append(wrong, checkTenantName("/tenant", p.Tenant)...)
	}
	return wrong
}

// planAuth fills in the defaults of requests_auth and checks it.
func (s *Service) planAuth(ctx context.Context, p access.Principal, out *plan) (wrong []fault.Field, err error) {
	const prefix = "/requests_auth"
	in := out.Auth.Value()
	out.opaque = readIntrospection(out.Auth.Opaque)
	out.auth, wrong = normalizeAuth(in, prefix, authContext{
		tenants:   []string{snapshot.DefaultTenant, out.Tenant},
		login:     out.Login != nil,
		publicURL: s.PublicURL,
		webPorts:  s.CapUnclaimed && unclaimed(p),
	})
	wrong = append(wrong, needsAPIKey(in.APIKey, out.auth, prefix)...)
	if issuers := in.Issuers(); len(issuers) > 0 {
		addressesWrong, err := s.checkIssuerAddresses(ctx, prefix, issuers)
		if err != nil {
			return nil, err
		}
		wrong = slices.Concat(wrong, needsJWT(out.auth, prefix), addressesWrong)
	}
	if out.opaque != nil {
		endpointWrong, err := s.checkEndpoint(ctx, p, prefix, out.opaque)
		if err != nil {
			return nil, err
		}
		wrong = slices.Concat(wrong, needsOpaque(out.auth, prefix), endpointWrong)
	}
	return wrong, nil
}

func (s *Service) checkLogin(ctx context.Context, p access.Principal, out plan) ([]fault.Field, error) {
	if out.Login == nil {
		return nil, nil
	}
	ctx, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	verified := out.auth.Allows(snapshot.JWT)
	return out.Login.Check(ctx, "/login", s.CapUnclaimed && unclaimed(p), verified)
}
