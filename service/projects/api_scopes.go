package projects

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/serving"
)

// Limits on a project's API.
const (
	maxAPIScopes   = 100
	maxDescription = 200
)

func viewAPI(row models.Project) contract.SavedAPI {
	declared := serving.API(row)
	return contract.SavedAPI{API: declared, ETag: digestOf(declared)}
}

// APIScopes returns what app clients can request at a project.
func (s *Service) APIScopes(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.SavedAPI, error) {
	row, err := access.Project(s.DB.Read(ctx), p, in.Project, access.ProjectRead)
	if err != nil {
		return contract.SavedAPI{}, fmt.Errorf("projects: API scopes of %s: %w", in.Project, err)
	}
	return viewAPI(row), nil
}

// SetAPIScopes replaces the scopes that app clients can request at a project. Scopes that are left out aren't in tokens
// issued from then on, but app clients keep them in their lists.
func (s *Service) SetAPIScopes(
	ctx context.Context, p access.Principal, in contract.APIUpdate,
) (contract.SavedAPI, error) {
	return s.changeAPI(ctx, p, in.Project, note{change: "API scopes"}, func(declared *contract.SavedAPI) error {
		if err := access.Unchanged(in.IfMatch, declared.ETag); err != nil {
			return err
		}
		declared.API = in.Body
		return nil
	})
}

// changeAPI changes what app clients can request at a project, after it has checked the permission.
func (s *Service) changeAPI(
	ctx context.Context, p access.Principal, ref string, says note, edit func(declared *contract.SavedAPI) error,
) (contract.SavedAPI, error) {
	var out contract.SavedAPI
	err := s.changeNoted(ctx, p, ref, &says, func(tx *models.Tx, project models.Project, now time.Time) error {
		in := viewAPI(project)
		in.Scopes = slices.Clone(in.Scopes) // the row's
		if err := edit(&in); err != nil {
			return err
		}
		wrong := checkAPI(in.API)
		taken, err := audienceTaken(tx, project, in.Audience)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(append(wrong, taken...)); err != nil {
			return err
		}
		seen := project.UpdatedAt
		project.APIAudience, project.APIScopes, project.UpdatedAt = in.Audience, in.Scopes, now
		out = viewAPI(project)
		return orStale(tx.UpdateProjectAPI(project, seen))
	})
	return out, err
}

// ReservedScopes are the scopes of OpenID Connect Core 1.0 (5.4 and 11), and groups, which
// mean the same at every app client.
var ReservedScopes = []string{
	"openid", "profile", "email", "address", "phone", "groups", "groups:manage", "offline_access",
}

func checkAPI(a contract.API) []fault.Field {
	wrong := checkAudience(a.Audience)
	if len(a.Scopes) > maxAPIScopes {
		return append(wrong, fault.Field{
			Pointer: "/scopes",
			Code:    "too_many",
			Detail:  fmt.Sprintf("Use at most %d scopes.", maxAPIScopes),
		})
	}
	for i, scope := range a.Scopes {
		refuse := func(member, code, detail string) {
			pointer := fmt.Sprintf("/scopes/%d/%s", i, member)
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
		}
		same := func(o contract.APIScope) bool { return o.Name == scope.Name }
		switch {
		case !scopePattern.MatchString(scope.Name):
			refuse("name", "invalid_scope", "Use lowercase letters, digits and : . _ -, such as orders:read, or "+
				"orders:* for every scope that begins with orders:.")
		case slices.Contains(ReservedScopes, scope.Name):
			refuse("name", "reserved_scope", "OpenID Connect reserves this scope. Choose another name.")
		case slices.ContainsFunc(a.Scopes[:i], same):
			refuse("name", "duplicate", "This scope is declared twice. Remove one.")
		}
		if utf8.RuneCountInString(scope.Description) > maxDescription ||
			strings.ContainsFunc(scope.Description, func(r rune) bool {
				return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
			}) {
			refuse("description", "invalid_text", fmt.Sprintf("Use at most %d characters on one line.", maxDescription))
		}
	}
	return wrong
}

// checkAudience requires an absolute URI without a fragment (RFC 8707, 2).
func checkAudience(audience string) []fault.Field {
	if audience == "" {
		return nil
	}
	u, err := url.Parse(audience)
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'<>\^{|}`+"`", r) }
	if err == nil && len(audience) <= maxAudience && u.IsAbs() && u.User == nil && (u.Host != "" || u.Opaque != "") &&
		!strings.Contains(audience, "#") && !strings.ContainsFunc(audience, odd) {
		return nil
	}
	return []fault.Field{{
		Pointer: "/audience",
		Code:    "invalid_audience",
		Detail: fmt.Sprintf("Use a URI of at most %d characters without a fragment, such as "+
			"https://api.example.com.", maxAudience),
	}}
}

// audienceTaken refuses the audience of another project of the team: its tokens would be
// taken for those of this one.
func audienceTaken(tx *models.Tx, project models.Project, audience string) ([]fault.Field, error) {
	if audience == "" {
		return nil, nil
	}
	others, err := tx.ProjectsOfTeam(project.TeamID)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if other.ID != project.ID && other.APIAudience == audience {
			return []fault.Field{{
				Pointer: "/audience",
				Code:    "duplicate",
				Detail:  fmt.Sprintf("The project %s already has this audience. Choose another one.", other.Name),
			}}, nil
		}
	}
	return nil, nil
}
