package projects

import (
	"context"
	"slices"

	"postern/core/contract"
	"postern/platform/fault"
	"postern/service/access"
)

// The changes to a single API scope or the audience, which leave all other scopes as they
// are. A form that was opened earlier is stale only where its own subject changed.

// AudienceETag is the state of the audience alone.
func AudienceETag(a contract.SavedAPI) string { return digest("audience", a.Audience) }

// APIScopeETag is the state of a scope alone.
func APIScopeETag(scope contract.APIScope) string { return digest("scope", scope) }

// ScopeOf returns the declared scope of that name. It returns false if there is none.
func ScopeOf(a contract.SavedAPI, name string) (contract.APIScope, bool) {
	if i := scopeIndex(a, name); i >= 0 {
		return a.Scopes[i], true
	}
	return contract.APIScope{}, false
}

func scopeIndex(a contract.SavedAPI, name string) int {
	return slices.IndexFunc(a.Scopes, func(one contract.APIScope) bool { return one.Name == name })
}

// SetAPIAudience sets the audience of a project, "" for none. If ifMatch isn't empty, the change is refused as stale
// unless that is still its AudienceETag.
func (s *Service) SetAPIAudience(
	ctx context.Context, p access.Principal, ref, ifMatch, audience string,
) (contract.SavedAPI, error) {
	return s.changeAPI(ctx, p, ref, note{change: "API audience"}, func(declared *contract.SavedAPI) error {
		if err := access.Unchanged(ifMatch, AudienceETag(*declared)); err != nil {
			return err
		}
		declared.Audience = audience
		return nil
	})
}

// AddAPIScope declares one more scope. Its errors point at /scopes/N with N the number of
// scopes before it.
func (s *Service) AddAPIScope(
	ctx context.Context, p access.Principal, ref string, scope contract.APIScope,
) (contract.SavedAPI, error) {
	says := note{change: "add", object: "API scope " + scope.Name}
	return s.changeAPI(ctx, p, ref, says, func(declared *contract.SavedAPI) error {
		declared.Scopes = append(declared.Scopes, scope)
		return nil
	})
}

// DescribeAPIScope changes the description of a scope. If ifMatch isn't empty, the change is refused as stale unless
// that is still its APIScopeETag.
func (s *Service) DescribeAPIScope(
	ctx context.Context, p access.Principal, ref, ifMatch string, scope contract.APIScope,
) (contract.SavedAPI, error) {
	says := note{change: "describe", object: "API scope " + scope.Name}
	return s.changeAPI(ctx, p, ref, says, func(declared *contract.SavedAPI) error {
		i := scopeIndex(*declared, scope.Name)
		if i < 0 {
			return errNoAPIScope
		}
		if err := access.Unchanged(ifMatch, APIScopeETag(declared.Scopes[i])); err != nil {
			return err
		}
		declared.Scopes[i].Description = scope.Description
		return nil
	})
}

// RemoveAPIScope removes a scope. Tokens issued from then on don't contain it.
func (s *Service) RemoveAPIScope(ctx context.Context, p access.Principal, ref, name string) (contract.SavedAPI, error) {
	says := note{change: "remove", object: "API scope " + name}
	return s.changeAPI(ctx, p, ref, says, func(declared *contract.SavedAPI) error {
		i := scopeIndex(*declared, name)
		if i < 0 {
			return errNoAPIScope
		}
		declared.Scopes = slices.Delete(declared.Scopes, i, i+1)
		return nil
	})
}

var errNoAPIScope = fault.New(fault.NotFound, "not_found", "This project doesn't have this API scope.")
