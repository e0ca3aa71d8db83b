package projects

import (
	"context"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
)

// The codes of the warnings about a version's access policy.
const (
	WarnPassthrough    = "passthrough"
	WarnOwnerFallback  = "owner_fallback"
	WarnLoginUnused    = "login_tokens_unused"
	WarnLoginNotNeeded = "login_not_required"
	WarnUnknownGroup   = "unknown_group"
)

// Warnings returns warnings about surprising effects of the access policies of a project's versions.
func (s *Service) Warnings(ctx context.Context, p access.Principal, ref string) ([]contract.Warning, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return nil, fmt.Errorf("projects: warnings of %s: %w", ref, err)
	}
	project, err := s.view(tx, row)
	if err != nil {
		return nil, fmt.Errorf("projects: warnings of %s: %w", ref, err)
	}
	return warningsOf(tx, project.Project)
}

func warningsOf(tx *models.Tx, project contract.Project) ([]contract.Warning, error) {
	login, err := tx.HasLogin(project.ID)
	if err != nil {
		return nil, fmt.Errorf("projects: the app clients of %s: %w", project.ID, err)
	}
	var out []contract.Warning
	for _, v := range project.Versions {
		out = append(out, versionWarnings(v, project.FallbackOwner, login)...)
	}
	return out, nil
}

// warnings returns those of the changed version.
func (in accessChange) warnings(
	tx *models.Tx, project models.Project, v contract.Version,
) ([]contract.Warning, error) {
	changed := contract.Project{
		ID: project.ID, FallbackOwner: project.FallbackOwner, Versions: []contract.Version{v},
	}
	if in.fallbackOwner != nil {
		changed.FallbackOwner = *in.fallbackOwner
	}
	return warningsOf(tx, changed)
}

// versionWarnings returns those of one version. login reports whether the project has app clients.
func versionWarnings(v contract.Version, fallbackOwner string, login bool) (out []contract.Warning) {
	warn := func(code, detail string, args ...any) {
		out = append(out, contract.Warning{Code: code, Detail: fmt.Sprintf(detail, args...), About: v.ID})
	}
	auth := v.RequestsAuth
	if detail := queryWarning(v); detail != "" {
		warn(WarnKeyInQuery, "%s", detail)
	}
	if auth.Mode != snapshot.Authenticate {
		if login {
			warn(WarnLoginNotNeeded, "Version %s also forwards calls from users who haven't signed in, because its "+
				"mode is passthrough. To refuse them, set the mode (requests_auth.mode) to authenticate.", v.Name)
			return out
		}
		warn(WarnPassthrough, "Version %s forwards every call, with or without a key, because its mode is "+
			"passthrough. To require keys, set the mode (requests_auth.mode) to authenticate.", v.Name)
		return out
	}
	if auth.Keyless == snapshot.OwnerFallback {
		warn(WarnOwnerFallback, "Version %s forwards calls without a key on behalf of %s. To refuse them, set "+
			"keyless (requests_auth.keyless) to reject.", v.Name, fallbackOwner)
	}
	if login && !auth.Allows(snapshot.JWT) {
		warn(WarnLoginUnused, "Version %s doesn't accept the tokens of users who sign in. Add jwt to its methods "+
			"(requests_auth.methods).", v.Name)
	}
	return out
}

// groupWarnings names the groups in rules that no tenant of the project has, in their order.
func groupWarnings(tx *models.Tx, projectID string, rules *snapshot.Rules) (out []contract.Warning, err error) {
	var named []string
	for i := range rules.List {
		for _, group := range rules.List[i].Groups {
			if !slices.Contains(named, group) {
				named = append(named, group)
			}
		}
	}
	if len(named) == 0 {
		return nil, nil
	}
	known, err := tx.GroupNamesOf(projectID, named)
	if err != nil {
		return nil, err
	}
	for _, group := range named {
		if !slices.Contains(known, group) {
			out = append(out, contract.Warning{
				Code: WarnUnknownGroup,
				Detail: fmt.Sprintf("The rules require the group %s, which doesn't exist in any tenant of this "+
					"project. Calls that require it are refused. Create the group, or correct its name in the "+
					"rules.", group),
			})
		}
	}
	return out, nil
}
