package directory

import (
	"postern/models"
	"postern/platform/federation"
	"postern/service/access"
)

func viewUsers(rows []models.EndUser) []User {
	var list []User
	for _, row := range rows {
		list = append(list, viewUser(row))
	}
	return list
}

func viewUser(row models.EndUser) User {
	return User{
		ID:            row.ID,
		Tenant:        row.TenantID,
		Email:         row.Email,
		EmailVerified: row.EmailVerified,
		Name:          row.Name,
		Profile:       federation.ParseProfile(row.Profile),
		UserName:      orEmpty(row.UserName),
		ExternalID:    orEmpty(row.ExternalID),
		State:         row.State,
		LastLoginAt:   row.LastLoginAt,
		ETag:          access.ETag(row.UpdatedAt),
		CreatedAt:     row.CreatedAt,
		UpdatedAt:     row.UpdatedAt,
	}
}
