package projects

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// maxVersions bounds the versions of a project.
const maxVersions = 50

// Versions lists the versions of a project, oldest first.
func (s *Service) Versions(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.List[contract.Version], error) {
	found, err := s.Get(ctx, p, in.Project)
	return contract.List[contract.Version]{Items: found.Project.Versions}, err
}

// Version finds a version of a project by name or id.
func (s *Service) Version(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.Version, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return contract.Version{}, fmt.Errorf("projects: get version %s of %s: %w", in.Version, in.Project, err)
	}
	row, err := versionOf(tx, project, in.Version)
	if err != nil {
		return contract.Version{}, fmt.Errorf("projects: get version %s of %s: %w", in.Version, in.Project, err)
	}
	return s.versionNow(tx, project, row)
}

// CreateVersion adds a version to a project as a copy of another one. It copies the access policy, the secret of the
// introspection endpoint, the address ranges, rules, transforms and OpenAPI settings and, unless the input names
// others, the environments. It doesn't copy the OpenAPI document, or the environments' upstream headers and client
// certificates.
func (s *Service) CreateVersion(
	ctx context.Context, p access.Principal, request contract.VersionCreation,
) (contract.Version, error) {
	var out contract.Version
	in, ref := request.Body, request.Project
	environments, wrong, err := s.newEnvironments(ctx, p, ref, in.Environments)
	if err != nil {
		return out, fmt.Errorf("projects: create version %s of %s: %w", in.Name, ref, err)
	}
	says := &note{change: "add", object: "version " + in.Name}
	err = s.restructure(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		versions, err := tx.VersionsOf(project.ID)
		if err != nil {
			return err
		}
		source, sourceWrong := copied(in, versions)
		wrong := slices.Concat(checkVersionName("/name", in.Name), sourceWrong, wrong)
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		if hasVersion(versions, in.Name) {
			return versionTaken("/name", in.Name)
		}
		if len(versions) >= maxVersions {
			return fault.New(fault.Conflict, "too_many_versions", "A project can have at most %d versions. Delete "+
				"one first.", maxVersions)
		}
		version, err := s.copyVersion(tx, project, source, in.Name, now)
		if err != nil {
			return err
		}
		if err := checkRuleQuota(tx, project); err != nil {
			return err
		}
		if err := copyEnvironments(tx, project, source, version, environments, now); err != nil {
			return err
		}
		out, err = s.versionNow(tx, project, version)
		return err
	})
	return out, err
}

// newEnvironments returns the environments that a new version is to have instead of those
// of the version that it copies. Permission is checked before host names are looked up.
func (s *Service) newEnvironments(
	ctx context.Context, p access.Principal, ref string, targets map[string]contract.EnvironmentTarget,
) (out []models.Environment, wrong []fault.Field, err error) {
	if _, err := access.Project(s.DB.Read(ctx), p, ref, access.ProjectUpdate); err != nil {
		return nil, nil, err
	}
	if len(targets) > maxEnvironments {
		return nil, []fault.Field{tooManyEnvironments("/environments")}, nil
	}
	ctx, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		at := "/environments/" + pointerToken(name)
		wrong = append(wrong, checkEnvironmentName(at, name)...)
		upstream := targets[name].Upstream
		settingsWrong, err := s.checkUpstream(ctx, p, at+"/upstream", &upstream)
		if err != nil {
			return nil, nil, err
		}
		wrong = append(wrong, settingsWrong...)
		to, placeWrong, err := s.checkPlace(ctx, p, at, targets[name].Target, upstream)
		if err != nil {
			return nil, nil, err
		}
		wrong = append(wrong, placeWrong...)
		if to.target == "" {
			continue
		}
		row := models.Environment{Name: name, Upstream: upstream}
		to.in(&row.Target, &row.Upstream)
		wrong = append(wrong, fitUpstream(at+"/upstream", upstream, row.Upstream, row.Target)...)
		out = append(out, row)
	}
	return out, wrong, nil
}

// copied finds the version to copy.
func copied(in contract.NewVersion, versions []models.Version) (models.Version, []fault.Field) {
	if in.CopyFrom == "" {
		return slices.MaxFunc(versions, func(a, b models.Version) int { return a.CreatedAt.Compare(b.CreatedAt) }), nil
	}
	if at := findVersion(versions, in.CopyFrom); at >= 0 {
		return versions[at], nil
	}
	return models.Version{}, []fault.Field{{
		Pointer: "/copy_from",
		Code:    "unknown_version",
		Detail: fmt.Sprintf("This project has no version %q. Its versions: %s.", in.CopyFrom,
			strings.Join(namesOf(versions, func(v models.Version) string { return v.Name }), ", ")),
	}}
}

// copyVersion writes a new version with everything that the source states, except for the
// environments. A setting that a version gets must be copied here.
func (s *Service) copyVersion(
	tx *models.Tx, project models.Project, source models.Version, name string, now time.Time,
) (models.Version, error) {
	version := source
	version.ID, version.Name = models.NewID("ver"), name
	version.CreatedAt, version.UpdatedAt = now, now
	if source.IntrospectionSecret != nil {
		// A sealed value opens in its own row only.
		secret, err := s.Vault.Open(tx, IntrospectionPlace(source.ID), source.IntrospectionSecret)
		if err != nil {
			return version, fmt.Errorf("copy the introspection secret of %s: %w", source.ID, err)
		}
		sealed, err := s.Vault.Seal(tx, project.TeamID, IntrospectionPlace(version.ID), secret)
		if err != nil {
			return version, fmt.Errorf("copy the introspection secret of %s: %w", source.ID, err)
		}
		version.IntrospectionSecret = sealed
	}
	return version, tx.Insert(&version)
}

// copyEnvironments writes the environments of a new version: the given ones, or else
// copies of those of the source.
func copyEnvironments(
	tx *models.Tx, project models.Project, source, version models.Version, given []models.Environment, now time.Time,
) error {
	if len(given) == 0 {
		all, err := tx.EnvironmentsOf(project.ID)
		if err != nil {
			return err
		}
		given = slices.DeleteFunc(all, func(e models.Environment) bool { return e.VersionID != source.ID })
	}
	return insertEnvironments(tx, version, given, now)
}

// Environments lists the environments of a version by name.
func (s *Service) Environments(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.List[contract.Environment], error) {
	version, err := s.Version(ctx, p, in)
	return contract.List[contract.Environment]{Items: version.Environments}, err
}

// Environment finds an environment of a version by name or id.
func (s *Service) Environment(
	ctx context.Context, p access.Principal, in contract.EnvironmentPath,
) (contract.Environment, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return contract.Environment{}, fmt.Errorf("projects: get environment %s: %w", in.Environment, err)
	}
	row, version, err := environmentOf(tx, project, in.Version, in.Environment)
	if err != nil {
		return contract.Environment{}, fmt.Errorf("projects: get environment %s: %w", in.Environment, err)
	}
	return shownEnvironment(s.Addresses, project.Name, version.Name, row), nil
}

// CreateEnvironment adds an environment to a version. Keys that are limited to environments of that name are valid for
// it.
func (s *Service) CreateEnvironment(
	ctx context.Context, p access.Principal, request contract.EnvironmentCreation,
) (contract.Environment, error) {
	var out contract.Environment
	in, ref := request.Body, request.Project
	// Permission is checked before the host name is looked up.
	if _, err := access.Project(s.DB.Read(ctx), p, ref, access.ProjectUpdate); err != nil {
		return out, fmt.Errorf("projects: create environment %s of %s: %w", in.Name, ref, err)
	}
	to, wrong, err := s.checkNewEnvironment(ctx, p, &in)
	if err != nil {
		return out, fmt.Errorf("projects: create environment %s of %s: %w", in.Name, ref, err)
	}
	says := &note{change: "add"}
	err = s.restructure(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, request.Version)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		have, err := environmentsOf(tx, version)
		if err != nil {
			return err
		}
		if hasEnvironment(have, in.Name) {
			return environmentTaken(version, in.Name)
		}
		if len(have) >= maxEnvironments {
			return fault.New(fault.Conflict, "too_many_environments", "A version can have at most %d environments. "+
				"Delete one first.", maxEnvironments)
		}
		row := models.Environment{
			ID:        models.NewID("env"),
			VersionID: version.ID,
			Name:      in.Name,
			Upstream:  in.Upstream,
			CreatedAt: now,
			UpdatedAt: now,
		}
		to.in(&row.Target, &row.Upstream)
		says.object = "environment " + row.Name + " of version " + version.Name
		out = shownEnvironment(s.Addresses, project.Name, version.Name, row)
		return tx.Insert(&row)
	})
	return out, err
}

// checkNewEnvironment checks an environment that is to be created, and returns its place, an empty one if that is
// wrong.
func (s *Service) checkNewEnvironment(
	ctx context.Context, p access.Principal, in *contract.NewEnvironment,
) (place, []fault.Field, error) {
	settingsWrong, err := s.checkUpstream(ctx, p, "/upstream", &in.Upstream)
	if err != nil {
		return place{}, nil, err
	}
	to, placeWrong, err := s.checkPlace(ctx, p, "", in.Target, in.Upstream)
	wrong := slices.Concat(checkEnvironmentName("/name", in.Name), settingsWrong, placeWrong)
	if err != nil || to.target == "" {
		return place{}, wrong, err
	}
	return to, append(wrong, fitUpstream("/upstream", in.Upstream, in.Upstream, to.target)...), nil
}

// restructure is changeNoted for the project's versions and environments, which are added and
// removed one transaction after the other.
func (s *Service) restructure(
	ctx context.Context, p access.Principal, ref string, says *note,
	fn func(*models.Tx, models.Project, time.Time) error,
) error {
	return s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		if err := tx.LockProject(project.ID); err != nil {
			return err
		}
		if err := fn(tx, project, now); err != nil {
			return err
		}
		if s.CheckLogin == nil {
			return nil
		}
		return s.CheckLogin(tx, project.ID)
	})
}

func (s *Service) versionNow(
	tx *models.Tx, project models.Project, version models.Version,
) (contract.Version, error) {
	environments, err := tx.EnvironmentsOf(project.ID)
	if err != nil {
		return contract.Version{}, err
	}
	return shownVersion(s.Addresses, project.Name, version, environments), nil
}

// environmentsOf lists the environments of one version by name.
func environmentsOf(tx *models.Tx, version models.Version) ([]models.Environment, error) {
	all, err := tx.EnvironmentsOf(version.ProjectID)
	return slices.DeleteFunc(all, func(e models.Environment) bool { return e.VersionID != version.ID }), err
}

// versionOf finds a version of the project by its id or name.
func versionOf(tx *models.Tx, project models.Project, ref string) (models.Version, error) {
	versions, err := tx.VersionsOf(project.ID)
	if err != nil {
		return models.Version{}, err
	}
	at := findVersion(versions, ref)
	if at < 0 {
		return models.Version{}, access.NotFound()
	}
	return versions[at], nil
}

func findVersion(versions []models.Version, ref string) int {
	if at := slices.IndexFunc(versions, func(v models.Version) bool { return v.ID == ref }); at >= 0 {
		return at
	}
	return slices.IndexFunc(versions, func(v models.Version) bool { return v.Name == ref })
}

func hasVersion(versions []models.Version, name string) bool {
	return slices.ContainsFunc(versions, func(v models.Version) bool { return v.Name == name })
}

func hasEnvironment(environments []models.Environment, name string) bool {
	return slices.ContainsFunc(environments, func(e models.Environment) bool { return e.Name == name })
}

// environmentOf finds an environment of the project: by its id, or by its name in the
// version that versionRef names. With versionRef "" only ids are found.
func environmentOf(
	tx *models.Tx, project models.Project, versionRef, ref string,
) (models.Environment, models.Version, error) {
	if versionRef == "" {
		environment, version, err := tx.EnvironmentByID(ref)
		if errors.Is(err, models.ErrNotFound) || (err == nil && version.ProjectID != project.ID) {
			err = access.NotFound()
		}
		return environment, version, err
	}
	version, err := versionOf(tx, project, versionRef)
	if err != nil {
		return models.Environment{}, version, err
	}
	have, err := environmentsOf(tx, version)
	if err != nil {
		return models.Environment{}, version, err
	}
	at := slices.IndexFunc(have, func(e models.Environment) bool { return e.ID == ref || e.Name == ref })
	if at < 0 {
		return models.Environment{}, version, access.NotFound()
	}
	return have[at], version, nil
}

func checkVersionName(pointer, name string) []fault.Field {
	if validVersion(name) {
		return nil
	}
	return []fault.Field{{
		Pointer: pointer,
		Code:    "invalid_version",
		Detail: "Use 1 to 32 letters, digits, dots, underscores or hyphens, such as 1.0.0. Start with a letter or " +
			"digit.",
	}}
}

// checkEnvironmentName checks the name of an environment.
func checkEnvironmentName(pointer, name string) []fault.Field {
	switch {
	case !ValidName(name):
		return []fault.Field{nameFault(pointer)}
	case name == policy.AllEnvironments:
		return []fault.Field{{
			Pointer: pointer,
			Code:    "invalid_name",
			Detail:  "The name all is reserved for keys that are valid for every environment. Choose another name.",
		}}
	}
	return nil
}

func tooManyEnvironments(pointer string) fault.Field {
	return fault.Field{
		Pointer: pointer,
		Code:    "too_many_environments",
		Detail:  fmt.Sprintf("Use at most %d environments.", maxEnvironments),
	}
}

func versionTaken(pointer, name string) error {
	return nameInUse(pointer, fmt.Sprintf("This project already has a version %q.", name))
}

func environmentTaken(version models.Version, name string) error {
	return nameInUse("/name", fmt.Sprintf("Version %s already has an environment %q.", version.Name, name))
}

func nameInUse(pointer, text string) error {
	return &fault.Error{
		Kind:   fault.Conflict,
		Code:   "name_taken",
		Public: text,
		Fields: []fault.Field{{
			Pointer: pointer,
			Code:    "name_taken",
			Detail:  "Choose another name, or change the existing one.",
		}},
	}
}
