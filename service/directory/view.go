package directory

import (
	"cmp"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/federation"
	"postern/service/access"
)

func viewUsers(rows []models.EndUser) []contract.User {
	var list []contract.User
	for _, row := range rows {
		list = append(list, viewUser(row))
	}
	return list
}

// viewUser returns a user without their identities and groups.
func viewUser(row models.EndUser) contract.User {
	out := contract.User{
		UserRecord: contract.UserRecord{
			ID:            row.ID,
			Email:         row.Email,
			EmailVerified: row.EmailVerified,
			Name:          row.Name,
			UserName:      orEmpty(row.UserName),
			ExternalID:    orEmpty(row.ExternalID),
			State:         row.State,
			CreatedAt:     row.CreatedAt.UTC(),
			UpdatedAt:     row.UpdatedAt.UTC(),
		},
		Tenant:      row.TenantID,
		LastLoginAt: contract.UTC(row.LastLoginAt),
		ETag:        access.ETag(row.UpdatedAt),
	}
	if profile := federation.ParseProfile(row.Profile); profile != (federation.Profile{}) {
		out.Profile = (*contract.Profile)(&profile)
	}
	return out
}

// NameOf returns what the audit log calls a user: the email address, or else a name; "" if there is neither.
func NameOf(row models.EndUser) string { return cmp.Or(row.Email, row.Name, orEmpty(row.UserName)) }

// audited has the values that the audit entry of a user compares.
type audited struct {
	Email         string
	EmailVerified bool
	Name          string
	UserName      string
	ExternalID    string
	State         string
	LastLoginAt   *time.Time
}

func auditedOf(row models.EndUser) audited {
	return audited{
		Email:         row.Email,
		EmailVerified: row.EmailVerified,
		Name:          row.Name,
		UserName:      orEmpty(row.UserName),
		ExternalID:    orEmpty(row.ExternalID),
		State:         row.State,
		LastLoginAt:   row.LastLoginAt,
	}
}
