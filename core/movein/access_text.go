package movein

import (
	"postern/core/contract"
	"postern/core/policy"
)

// AccessText says which calls a planned version serves, for people.
func AccessText(v *contract.PlannedVersion) string {
	switch {
	case v.Closed:
		return "refuses every call"
	case v.RequestsAuth.Mode == contract.Authenticate:
		return "with a key " + policy.KeyPlaceText(v.RequestsAuth.APIKey)
	}
	return "without a key"
}
