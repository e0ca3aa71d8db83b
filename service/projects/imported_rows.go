package projects

import (
	"net/textproto"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
)

// ImportedVersion returns the row of a version that CheckImported has checked. It has no ID of the project.
func ImportedVersion(v *snapshot.Version, now time.Time) models.Version {
	return models.Version{
		ID:              v.ID,
		Name:            v.Name,
		RequestsAuth:    v.Access.RequestsAuth,
		IPAllow:         v.Access.IP.Allow,
		IPDeny:          v.Access.IP.Deny,
		Rules:           v.Rules,
		Transforms:      v.Transforms.Stated(),
		OpenAPISettings: v.OpenAPISettings(),
		CreatedAt:       now,
		UpdatedAt:       now,
	}
}

// ImportedEnvironment returns the row of an environment that CheckImported has checked. It has no ID of the version.
func ImportedEnvironment(e *snapshot.Environment, now time.Time) models.Environment {
	return models.Environment{
		ID: e.ID, Name: e.Name, Target: e.Target, Upstream: e.Upstream, CreatedAt: now, UpdatedAt: now,
	}
}

// ImportedKeyType returns the row of a key type that CheckImported has checked. It has no ID of the project.
func ImportedKeyType(t *snapshot.KeyType) models.KeyType {
	return models.KeyType{
		ID:        t.ID,
		Name:      t.Name,
		Scopes:    t.Scopes,
		ExpiresIn: int64(t.ExpiresIn / time.Second),
		Limits:    t.Limits.Stated(),
		BuiltIn:   t.BuiltIn,
	}
}

// BuiltInKeyTypes returns the key types that every project has.
func BuiltInKeyTypes() []snapshot.KeyType {
	var out []snapshot.KeyType
	for _, t := range builtInTypes() {
		out = append(out, snapshot.KeyType{Name: t.Name, Scopes: t.Scopes, BuiltIn: true})
	}
	return out
}

// CheckImportedHeader returns the mistakes in an upstream header of an imported environment.
func CheckImportedHeader(name string, value secrets.Secret) []fault.Field {
	return checkUpstreamHeader(textproto.CanonicalMIMEHeaderKey(name), value)
}

// SealImportedHeader returns the row of an upstream header that CheckImportedHeader has checked.
func (s *Service) SealImportedHeader(
	tx *models.Tx, team, environment, name string, value secrets.Secret, now time.Time,
) (models.UpstreamHeader, error) {
	row := models.UpstreamHeader{
		EnvironmentID: environment, Name: textproto.CanonicalMIMEHeaderKey(name), CreatedAt: now, UpdatedAt: now,
	}
	var err error
	row.Value, err = s.Vault.Seal(tx, team, UpstreamHeaderPlace(environment, row.Name), value)
	return row, err
}

// IsImportedHeader reports whether an upstream header has a value.
func (s *Service) IsImportedHeader(tx *models.Tx, row models.UpstreamHeader, value secrets.Secret) (bool, error) {
	now, err := s.Vault.Open(tx, UpstreamHeaderPlace(row.EnvironmentID, row.Name), row.Value)
	return now.Reveal() == value.Reveal(), err
}
