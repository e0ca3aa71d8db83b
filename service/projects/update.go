package projects

import (
	"context"
	"fmt"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// maxRanges bounds the address ranges in each list of a version.
const maxRanges = 200

// checkFallbackOwner checks the owner of calls without a key. Users and app clients can be frozen, and can belong to
// another team. A call without a credential must not be taken for theirs.
func checkFallbackOwner(owner string) []fault.Field {
	wrong := fault.Field{Pointer: "/fallback_owner", Code: "invalid_owner"}
	switch {
	case !keys.ValidOwner(owner):
		wrong.Detail = keys.OwnerRule
	case strings.HasPrefix(owner, "usr_") || strings.HasPrefix(owner, "cli_"):
		wrong.Detail = "Use a name that doesn't begin with usr_ or cli_. Calls without a key can't be assigned to a " +
			"user or an app client."
	default:
		return nil
	}
	return []fault.Field{wrong}
}

// UpdateVersion changes the name and the access policy of a version.
func (s *Service) UpdateVersion(
	ctx context.Context, p access.Principal, in contract.VersionUpdate,
) (contract.Version, error) {
	return s.UpdateAccess(ctx, p, in, nil)
}

// UpdateAccess is UpdateVersion for a caller who changes the project's fallback owner in the same step.
func (s *Service) UpdateAccess(
	ctx context.Context, p access.Principal, request contract.VersionUpdate, fallbackOwner *string,
) (contract.Version, error) {
	var out contract.Version
	in := accessChange{request.Body, readIntrospection(request.Body.RequestsAuth.Opaque), fallbackOwner}
	addressesWrong, err := s.checkAddresses(ctx, p, request.VersionPath, in)
	if err != nil {
		return out, fmt.Errorf("projects: change the access of %s: %w", request.Version, err)
	}
	says := &note{}
	change := func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, request.Version)
		if err != nil {
			return err
		}
		if err := access.Unchanged(request.IfMatch, access.ETag(version.UpdatedAt)); err != nil {
			return err
		}
		seen := version.UpdatedAt
		says.change = "access of " + version.ID
		was := version.Name
		if err := in.rename(tx, project, &version); err != nil {
			return err
		}
		if version.Name != was {
			says.change, says.object = "rename", "version "+was+" to "+version.Name
		}
		auth, err := s.checkAccess(tx, p, project, &version, in, addressesWrong)
		if err != nil {
			return err
		}
		if err := in.updateFallback(tx, project, now); err != nil {
			return err
		}
		version.RequestsAuth, version.UpdatedAt = auth, now
		if err := s.setIntrospection(tx, project.TeamID, &version, in.opaque); err != nil {
			return err
		}
		if err := orStale(tx.UpdateVersion(version, seen)); err != nil {
			return err
		}
		if s.CheckLogin != nil {
			if err := s.CheckLogin(tx, project.ID); err != nil {
				return err
			}
		}
		if out, err = s.versionNow(tx, project, version); err != nil {
			return err
		}
		out.Warnings, err = in.warnings(tx, project, out)
		return err
	}
	err = s.changeNoted(ctx, p, request.Project, says, change)
	return out, err
}

// accessChange is what UpdateAccess changes.
type accessChange struct {
	contract.VersionChange

	opaque        *introspectionInput
	fallbackOwner *string // of the project
}

// checkAccess checks a change and sets the version's address ranges. It returns the
// version's requests_auth after the change.
func (s *Service) checkAccess(
	tx *models.Tx,
	p access.Principal,
	project models.Project,
	version *models.Version,
	in accessChange,
	addressesWrong []fault.Field,
) (contract.RequestsAuth, error) {
	const prefix = "/requests_auth"
	at, err := s.authContext(tx, project.ID)
	if err != nil {
		return contract.RequestsAuth{}, err
	}
	at.webPorts = s.CapUnclaimed && p.Roles[project.TeamID] == access.Workspace
	auth, wrong := normalizeAuth(in.over(*version), prefix, at)
	if jwt := in.RequestsAuth.JWT; jwt != nil && len(jwt.AllowedPairs) > 0 {
		wrong = append(wrong, needsJWT(auth, prefix)...)
	}
	wrong = append(wrong, needsAPIKey(in.RequestsAuth.APIKey, auth, prefix)...)
	if in.opaque != nil {
		wrong = append(wrong, needsOpaque(auth, prefix)...)
		wrong = append(wrong, in.opaque.needsItsSecret(*version, prefix)...)
	}
	wrong = append(wrong, addressesWrong...)
	if in.fallbackOwner != nil {
		wrong = append(wrong, checkFallbackOwner(*in.fallbackOwner)...)
	}
	wrong = append(wrong, in.setRanges(version)...)
	return auth, fault.InvalidFields(wrong)
}

// checkAddresses checks the addresses in the change. Permission is checked first, because
// host names are looked up for the caller.
func (s *Service) checkAddresses(
	ctx context.Context, p access.Principal, at contract.VersionPath, in accessChange,
) ([]fault.Field, error) {
	db := s.DB.Read(ctx)
	project, err := access.Project(db, p, at.Project, access.ProjectUpdate)
	if err != nil {
		return nil, err
	}
	wrong, err := s.checkEndpoint(ctx, p, "/requests_auth", in.opaque)
	jwt := in.RequestsAuth.JWT
	if err != nil || jwt == nil {
		return wrong, err
	}
	version, err := versionOf(db, project, at.Version)
	if err != nil {
		return nil, err
	}
	added := newIssuers(version.RequestsAuth.Issuers(), jwt.AllowedPairs)
	issuersWrong, err := s.checkIssuerAddresses(ctx, "/requests_auth", added)
	return append(wrong, issuersWrong...), err
}

func (s *Service) authContext(tx *models.Tx, projectID string) (authContext, error) {
	at := authContext{publicURL: s.PublicURL}
	rows, err := tx.TenantsOf(projectID)
	if err != nil {
		return at, err
	}
	for _, row := range rows {
		at.tenants = append(at.tenants, row.Name)
	}
	at.login, err = tx.HasLogin(projectID)
	return at, err
}

// updateFallback sets the project's fallback owner, if the change has a new one.
func (in accessChange) updateFallback(tx *models.Tx, project models.Project, now time.Time) error {
	if in.fallbackOwner == nil || *in.fallbackOwner == project.FallbackOwner {
		return nil
	}
	seen := project.UpdatedAt
	project.FallbackOwner, project.UpdatedAt = *in.fallbackOwner, now
	return orStale(tx.UpdateProject(project, seen))
}

// setRanges sets the version's address ranges, and returns the fields that are wrong.
func (in accessChange) setRanges(version *models.Version) (wrong []fault.Field) {
	if in.IP.Allow != nil {
		ranges, fields := keys.ReadRanges("/ip/allow", *in.IP.Allow, maxRanges)
		version.IPAllow, wrong = ranges, fields
	}
	if in.IP.Deny != nil {
		ranges, fields := keys.ReadRanges("/ip/deny", *in.IP.Deny, maxRanges)
		version.IPDeny, wrong = ranges, append(wrong, fields...)
	}
	return wrong
}

// over returns the version's requests_auth with the change applied. If the mode changes
// and there are no methods, the new mode's default methods apply.
func (in accessChange) over(version models.Version) contract.RequestsAuth {
	was, auth := version.RequestsAuth, in.RequestsAuth.Over(version.RequestsAuth)
	if auth.Mode != was.Mode && len(was.Methods) == 0 && in.RequestsAuth.Methods == nil {
		auth.Methods = nil
	}
	return auth
}

// UpdateEnvironment changes the name, the target and the settings of the upstream of an environment.
func (s *Service) UpdateEnvironment(
	ctx context.Context, p access.Principal, request contract.EnvironmentUpdate,
) (contract.Environment, error) {
	var out contract.Environment
	in, named := request.Body, request.Environment
	// Permission is checked before the host name is looked up.
	if _, err := access.Project(s.DB.Read(ctx), p, request.Project, access.ProjectUpdate); err != nil {
		return out, fmt.Errorf("projects: change the environment %s: %w", named, err)
	}
	to, err := s.checkEnvironment(ctx, p, &in)
	if err != nil {
		return out, fmt.Errorf("projects: change the environment %s: %w", named, err)
	}
	says := &note{}
	change := func(tx *models.Tx, project models.Project, now time.Time) error {
		environment, version, err := environmentOf(tx, project, request.Version, named)
		if err != nil {
			return err
		}
		if err := access.Unchanged(request.IfMatch, access.ETag(environment.UpdatedAt)); err != nil {
			return err
		}
		if err := keepsCredentials(tx, environment, to); err != nil {
			return err
		}
		says.change = "target of " + environment.ID
		if to.target == "" {
			says.change = "upstream settings of " + environment.ID
		}
		seen, was := environment.UpdatedAt, environment.Name
		if err := renameEnvironment(tx, project, version, &environment, in.Name, now); err != nil {
			return err
		}
		if environment.Name != was {
			says.change, says.object = "rename", "environment "+was+" of version "+version.Name+" to "+environment.Name
		}
		environment.Upstream, environment.UpdatedAt = in.Upstream.Over(environment.Upstream), now
		to.in(&environment.Target, &environment.Upstream)
		wrong := fitUpstream("/upstream", in.Upstream, environment.Upstream, environment.Target)
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		out = shownEnvironment(s.Addresses, project.Name, version.Name, environment)
		return orStale(tx.UpdateEnvironment(environment, seen))
	}
	err = s.changeNoted(ctx, p, request.Project, says, change)
	return out, err
}

// checkEnvironment checks what a change sets, except for the name, and returns the new place, an empty one for none.
func (s *Service) checkEnvironment(
	ctx context.Context, p access.Principal, in *contract.EnvironmentChange,
) (to place, err error) {
	wrong, err := s.checkUpstream(ctx, p, "/upstream", &in.Upstream)
	if err != nil {
		return place{}, err
	}
	if in.Target != nil || in.Upstream.Targets != nil {
		var placeWrong []fault.Field
		if to, placeWrong, err = s.checkPlace(ctx, p, "", orEmpty(in.Target), in.Upstream); err != nil {
			return place{}, err
		}
		wrong = append(wrong, placeWrong...)
	}
	return to, fault.InvalidFields(wrong)
}

// note is what the audit entry of a change says, for people. fn may set it.
type note struct {
	change string // "access of ver_1"; with an object a verb: add, rename, remove
	object string // such as "version 2.0.0"

	before Project                                  // as it is before fn
	then   func(tx *models.Tx, after Project) error // set by an fn that needs the project as it is afterward
}

// look is a project as it was before a transaction: it can take long to read, while others wait to write.
type look struct {
	project  Project
	revision models.Revision // the newest one before that
}

func (s *Service) lookAt(ctx context.Context, p access.Principal, ref string) (out look, err error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, ref, access.ProjectUpdate)
	if err != nil {
		return out, err
	}
	revisions, err := tx.RevisionsOf([]string{row.ID})
	if err == nil {
		out.revision = revisions[row.ID]
		out.project, err = s.view(tx, row)
	}
	return out, err
}

// projectIn returns the project in a transaction: as it was, unless it has been changed since.
func (s *Service) projectIn(tx *models.Tx, row models.Project, l look) (Project, error) {
	revisions, err := tx.RevisionsOf([]string{row.ID})
	if now := revisions[row.ID]; err != nil || now.ID != 0 && now.Same(l.revision) {
		return l.project, err
	}
	return s.view(tx, row)
}

// changeNoted changes a project in one transaction: it checks permission, calls fn, which may set the note, and writes
// the audit entry and the revision.
func (s *Service) changeNoted(
	ctx context.Context, p access.Principal, ref string, says *note,
	fn func(*models.Tx, models.Project, time.Time) error,
) error {
	seen, err := s.lookAt(ctx, p, ref)
	if err != nil {
		return fmt.Errorf("projects: change %s: %w", ref, err)
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		project, err := access.Project(tx, p, ref, access.ProjectUpdate)
		if err != nil {
			return err
		}
		before, err := s.projectIn(tx, project, seen)
		if err != nil {
			return err
		}
		says.before = before
		now := models.Now()
		if err := fn(tx, project, now); err != nil {
			return err
		}
		after, err := s.viewOf(tx, project.ID)
		if err != nil {
			return err
		}
		if says.then != nil {
			if err := says.then(tx, after); err != nil {
				return err
			}
		}
		detail := map[string]string{"change": says.change, "name": project.Name}
		if says.object != "" {
			detail["object"] = says.object
		}
		err = access.Record(tx, p, access.Entry{
			Action: access.ProjectUpdate,
			Object: project.ID,
			Team:   project.TeamID,
			Detail: detail,
			Before: before,
			After:  after,
		})
		if err != nil {
			return err
		}
		return tx.AddRevision(project.ID, "", now)
	})
	if err != nil {
		return fmt.Errorf("projects: change %s: %w", ref, err)
	}
	s.Changed(ctx)
	return nil
}

func (s *Service) viewOf(tx *models.Tx, id string) (Project, error) {
	row, err := tx.ProjectByID(id)
	if err != nil {
		return Project{}, err
	}
	return s.view(tx, row)
}

// orStale returns a stale fault if the row was changed by another transaction.
func orStale(updated bool, err error) error {
	if err == nil && !updated {
		return access.Stale()
	}
	return err
}
