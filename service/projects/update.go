package projects

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// AccessChange is what UpdateAccess can change; nil leaves a field as it is.
// FallbackOwner is the project's, for a caller who sets both in one step.
type AccessChange struct {
	Name          *string // of the version
	Mode          *string
	Methods       *[]string
	Keyless       *string
	Issuers       *[]snapshot.TokenIssuer // needs the method jwt
	Opaque        *IntrospectionInput     // needs the method opaque
	FallbackOwner *string
	IPAllow       *[]string // CIDRs; empty: all addresses
	IPDeny        *[]string // CIDRs; takes precedence over IPAllow
}

// maxRanges bounds the address ranges in each list of a version.
const maxRanges = 200

func checkFallbackOwner(owner string) []fault.Field {
	if keys.ValidOwner(owner) {
		return nil
	}
	return []fault.Field{{
		Pointer: "/fallback_owner",
		Code:    "invalid_owner",
		Detail:  "Use 1 to 128 printable ASCII characters without a space at either end.",
	}}
}

// UpdateAccess changes the access policy of one version, named by its id. With ifMatch
// not empty the change is refused as stale unless that is still the version's ETag.
func (s *Service) UpdateAccess(
	ctx context.Context, p access.Principal, ref, versionID, ifMatch string, in AccessChange,
) (Version, error) {
	var out Version
	addressesWrong, err := s.checkAddresses(ctx, p, ref, versionID, in)
	if err != nil {
		return out, fmt.Errorf("projects: change the access of %s: %w", versionID, err)
	}
	says := &note{change: "access of " + versionID}
	err = s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, versionID)
		if err != nil {
			return err
		}
		if err := access.Unchanged(ifMatch, access.ETag(version.UpdatedAt)); err != nil {
			return err
		}
		seen := version.UpdatedAt
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
		version.AuthMode, version.AuthMethods, version.Keyless = auth.Mode, auth.Methods, auth.Keyless
		version.TokenIssuers, version.UpdatedAt = auth.Issuers, now
		if err := s.setIntrospection(tx, project.TeamID, &version, in.Opaque); err != nil {
			return err
		}
		if err := written(tx.UpdateVersion(version, seen)); err != nil {
			return err
		}
		if s.Suits != nil {
			if err := s.Suits(tx, project.ID); err != nil {
				return err
			}
		}
		environments, err := tx.EnvironmentsOf(project.ID)
		if err != nil {
			return err
		}
		out = viewVersion(project.Name, version, environments)
		out.Warnings, err = in.warnings(tx, project, out)
		return err
	})
	return out, err
}

// checkAccess checks a change and sets the version's address ranges. It returns the
// version's requests_auth after the change.
func (s *Service) checkAccess(
	tx *models.Tx,
	p access.Principal,
	project models.Project,
	version *models.Version,
	in AccessChange,
	addressesWrong []fault.Field,
) (AuthInput, error) {
	const prefix = "/requests_auth"
	at, err := s.authContext(tx, project.ID)
	if err != nil {
		return AuthInput{}, err
	}
	at.webPorts = s.CapUnclaimed && p.Roles[project.TeamID] == access.Workspace
	auth, wrong := normalizeAuth(in.over(*version), prefix, at)
	if in.Issuers != nil && len(*in.Issuers) > 0 {
		wrong = append(wrong, needsJWT(auth, prefix)...)
	}
	if in.Opaque != nil {
		wrong = append(wrong, needsOpaque(auth, prefix)...)
		wrong = append(wrong, in.Opaque.needsItsSecret(*version, prefix)...)
	}
	wrong = append(wrong, addressesWrong...)
	if in.FallbackOwner != nil {
		wrong = append(wrong, checkFallbackOwner(*in.FallbackOwner)...)
	}
	wrong = append(wrong, in.setRanges(version)...)
	return auth, fault.InvalidFields(wrong)
}

// checkAddresses checks the addresses in the change. Permission is checked first, because
// host names are looked up for the caller.
func (s *Service) checkAddresses(
	ctx context.Context, p access.Principal, ref, versionID string, in AccessChange,
) ([]fault.Field, error) {
	db := s.DB.Read(ctx)
	project, err := access.Project(db, p, ref, access.ProjectUpdate)
	if err != nil {
		return nil, err
	}
	wrong, err := s.checkEndpoint(ctx, p, "/requests_auth", in.Opaque)
	if err != nil || in.Issuers == nil {
		return wrong, err
	}
	version, err := versionOf(db, project, versionID)
	if err != nil {
		return nil, err
	}
	issuersWrong, err := s.checkIssuerAddresses(ctx, "/requests_auth", newIssuers(version.TokenIssuers, *in.Issuers))
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
func (in AccessChange) updateFallback(tx *models.Tx, project models.Project, now time.Time) error {
	if in.FallbackOwner == nil || *in.FallbackOwner == project.FallbackOwner {
		return nil
	}
	seen := project.UpdatedAt
	project.FallbackOwner, project.UpdatedAt = *in.FallbackOwner, now
	return written(tx.UpdateProject(project, seen))
}

// setRanges sets the version's address ranges, and returns the fields that are wrong.
func (in AccessChange) setRanges(version *models.Version) (wrong []fault.Field) {
	if in.IPAllow != nil {
		ranges, fields := keys.ReadRanges("/ip/allow", *in.IPAllow, maxRanges)
		version.IPAllow, wrong = ranges, fields
	}
	if in.IPDeny != nil {
		ranges, fields := keys.ReadRanges("/ip/deny", *in.IPDeny, maxRanges)
		version.IPDeny, wrong = ranges, append(wrong, fields...)
	}
	return wrong
}

// over returns the version's requests_auth with the change applied. If the mode changes
// and there are no methods, the new mode's default methods apply.
func (in AccessChange) over(version models.Version) AuthInput {
	auth := AuthInput{
		Mode:    version.AuthMode,
		Methods: slices.Clone(version.AuthMethods),
		Keyless: version.Keyless,
		Issuers: version.TokenIssuers,
		Opaque:  keptIntrospection(version),
	}
	if in.Mode != nil && *in.Mode != auth.Mode {
		auth.Mode = *in.Mode
		if len(auth.Methods) == 0 {
			auth.Methods = nil
		}
	}
	if in.Methods != nil {
		auth.Methods = *in.Methods
	}
	if in.Keyless != nil {
		auth.Keyless = *in.Keyless
	}
	if in.Issuers != nil {
		auth.Issuers = *in.Issuers
	}
	if in.Opaque != nil {
		auth.Opaque = in.Opaque
	}
	return auth
}

// EnvironmentChange is what UpdateEnvironment can change; nil leaves a field as it is.
type EnvironmentChange struct{ Name, Target *string }

// UpdateEnvironment changes the name and the upstream of an environment, named by its id.
// With ifMatch not empty the change is refused as stale unless that is still the
// environment's ETag.
func (s *Service) UpdateEnvironment(
	ctx context.Context, p access.Principal, ref, environmentID, ifMatch string, in EnvironmentChange,
) (Environment, error) {
	var out Environment
	// Permission is checked before the host name is looked up.
	if _, err := access.Project(s.DB.Read(ctx), p, ref, access.ProjectUpdate); err != nil {
		return out, fmt.Errorf("projects: change the environment %s: %w", environmentID, err)
	}
	var target string
	if in.Target != nil {
		u, field, err := s.checkTarget(ctx, p, "/target", *in.Target)
		if err == nil && field != nil {
			err = fault.InvalidFields([]fault.Field{*field})
		}
		if err != nil {
			return out, fmt.Errorf("projects: change the environment %s: %w", environmentID, err)
		}
		target = u.String()
	}
	says := &note{change: "target of " + environmentID}
	err := s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		environment, version, err := environmentOf(tx, project, "", environmentID)
		if err != nil {
			return err
		}
		if err := access.Unchanged(ifMatch, access.ETag(environment.UpdatedAt)); err != nil {
			return err
		}
		if err := keepsCredentials(tx, environment, target); err != nil {
			return err
		}
		seen, was := environment.UpdatedAt, environment.Name
		if err := in.rename(tx, project, version, &environment, now); err != nil {
			return err
		}
		if environment.Name != was {
			says.change, says.object = "rename", "environment "+was+" of version "+version.Name+" to "+environment.Name
		}
		environment.Target, environment.UpdatedAt = cmp.Or(target, environment.Target), now
		out = viewEnvironment(project.Name, version.Name, environment)
		return written(tx.UpdateEnvironment(environment, seen))
	})
	return out, err
}

// change changes a project in one transaction: it checks permission, calls fn, and writes
// the audit entry and the revision. what names the change in the audit entry.
func (s *Service) change(
	ctx context.Context, p access.Principal, ref, what string, fn func(*models.Tx, models.Project, time.Time) error,
) error {
	return s.changeNoted(ctx, p, ref, &note{change: what}, fn)
}

// note is what the audit entry of a change says, for people. fn may set it.
type note struct {
	change string // "access of ver_1"; with an object a verb: add, rename, remove
	object string // such as "version 2.0.0"

	before Project                                  // as it is before fn
	then   func(tx *models.Tx, after Project) error // set by an fn that needs the project as it is afterwards
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
		out.project, err = view(tx, row)
	}
	return out, err
}

// in returns the project in a transaction: as it was, unless it has been changed since.
func (l look) in(tx *models.Tx, row models.Project) (Project, error) {
	revisions, err := tx.RevisionsOf([]string{row.ID})
	if now := revisions[row.ID]; err != nil || now.ID != 0 && now.Same(l.revision) {
		return l.project, err
	}
	return view(tx, row)
}

// changeNoted is change for an fn that sets the note.
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
		before, err := seen.in(tx, project)
		if err != nil {
			return err
		}
		says.before = before
		now := models.Now()
		if err := fn(tx, project, now); err != nil {
			return err
		}
		after, err := viewOf(tx, project.ID)
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

func viewOf(tx *models.Tx, id string) (Project, error) {
	row, err := tx.ProjectByID(id)
	if err != nil {
		return Project{}, err
	}
	return view(tx, row)
}

// written returns a stale fault if the row was changed by another transaction.
func written(won bool, err error) error {
	if err == nil && !won {
		return access.Stale()
	}
	return err
}
