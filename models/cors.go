package models

import (
	"database/sql/driver"
	"time"
)

// CORS is a column: which pages of other origins may call a project, or call with credentials of
// a tenant. A project without any leaves that to its upstreams, and a tenant to its projects.
type CORS struct {
	Origins        []string `json:"origins,omitempty"`
	AppOrigins     bool     `json:"app_origins,omitempty"`
	Methods        []string `json:"methods,omitempty"`
	Headers        []string `json:"headers,omitempty"`
	ExposedHeaders []string `json:"exposed_headers,omitempty"`
	Credentials    bool     `json:"credentials,omitempty"`
	MaxAge         *int     `json:"max_age,omitempty"` // seconds
}

// IsSet reports whether there is one: each that is saved allows origins.
func (c CORS) IsSet() bool { return len(c.Origins) > 0 || c.AppOrigins }

// Value implements driver.Valuer.
func (c CORS) Value() (driver.Value, error) { return document(c) }

// Scan implements sql.Scanner.
func (c *CORS) Scan(value any) error { return readDocument(value, c) }

// UpdateProjectCORS writes the CORS of a project if the row still has the UpdatedAt that the
// caller saw. It returns false if another change came first.
func (t *Tx) UpdateProjectCORS(p Project, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Project{}).
		Where("id = ? AND updated_at = ?", p.ID, seen).
		Select("CORS", "UpdatedAt").
		UpdateColumns(&p)
	return res.RowsAffected == 1, res.Error
}

// UpdateTenantCORS is UpdateProjectCORS for a tenant.
func (t *Tx) UpdateTenantCORS(one Tenant, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Tenant{}).
		Where("id = ? AND updated_at = ?", one.ID, seen).
		Select("CORS", "UpdatedAt").
		UpdateColumns(&one)
	return res.RowsAffected == 1, res.Error
}
