package projects

import (
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
)

// rename sets the version's new name, which is part of the URLs of its environments.
// The caller writes the row.
func (in accessChange) rename(tx *models.Tx, project models.Project, version *models.Version) error {
	if in.Name == nil || *in.Name == version.Name {
		return nil
	}
	if err := fault.InvalidFields(checkVersionName("/name", *in.Name)); err != nil {
		return err
	}
	if err := tx.LockProject(project.ID); err != nil {
		return err
	}
	versions, err := tx.VersionsOf(project.ID)
	if err != nil {
		return err
	}
	if hasVersion(versions, *in.Name) {
		return versionTaken("/name", *in.Name)
	}
	version.Name = *in.Name
	return nil
}

// renameEnvironment sets the environment's new name, nil for the old one. Keys that were limited to the old name and
// open no other environment of it are limited to the new one, so that they open what they
// opened before. It is refused as Conflict with the code keys_would_open_more if they would
// then open another environment, too.
func renameEnvironment(
	tx *models.Tx, project models.Project, version models.Version, environment *models.Environment, to *string,
	now time.Time,
) error {
	if to == nil || *to == environment.Name {
		return nil
	}
	was, name := environment.Name, *to
	if err := fault.InvalidFields(checkEnvironmentName("/name", name)); err != nil {
		return err
	}
	if err := tx.LockProject(project.ID); err != nil {
		return err
	}
	have, err := environmentsOf(tx, version)
	if err != nil {
		return err
	}
	if hasEnvironment(have, name) {
		return environmentTaken(version, name)
	}
	stranded, err := tx.StrandedKeys(project, []string{was}, []string{environment.ID})
	if err != nil {
		return err
	}
	if err := checkNewLimit(tx, project, stranded, name); err != nil {
		return err
	}
	environment.Name = name
	return limitTo(tx, project, stranded, name, now)
}

// checkNewLimit refuses to limit keys to a name of more environments than the renamed one.
func checkNewLimit(tx *models.Tx, project models.Project, stranded []models.APIKey, name string) error {
	if len(stranded) == 0 {
		return nil
	}
	used, err := tx.PlacesOfEnvironment(project, name)
	if err != nil || len(used) == 0 {
		return err
	}
	they, them := "they", "them"
	if len(stranded) == 1 {
		they, them = "it", "it"
	}
	return fault.New(
		fault.Conflict, "keys_would_open_more", "%s limited to this environment. After the rename, %s would also "+
			"be valid for %s. Choose another name, or revoke %s first.",
		countOf(int64(len(stranded)), "API key is", "API keys are"),
		they, strings.Join(used, ", "), them,
	)
}

// limitTo limits keys to another environment. The project's own are loaded again with the
// project's revision; keys made in other projects of the product get one each.
func limitTo(tx *models.Tx, project models.Project, rows []models.APIKey, name string, now time.Time) error {
	ids := make([]string, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	if err := tx.LimitKeys(ids, name, now); err != nil {
		return err
	}
	for _, row := range rows {
		if row.ProjectID == project.ID {
			continue
		}
		if err := tx.AddRevision(row.ProjectID, row.ID, now); err != nil {
			return err
		}
	}
	return nil
}
