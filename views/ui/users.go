package ui

import "time"

// NotActive is shown for users without calls: usage by user is kept for a week.
const NotActive = "none in the last 7 days"

// UserRow is one end user in a list.
type UserRow struct {
	URL       string
	Title     string // their name, or what else is known
	Email     string
	Tenant    Link // in a list of several tenants' users
	State     Badge
	Created   time.Time
	LastLogin time.Time
	Seen      time.Time // in traffic
}

// ofTenants reports whether the rows say which tenant their users are of.
func ofTenants(rows []UserRow) bool { return len(rows) > 0 && rows[0].Tenant.URL != "" }
