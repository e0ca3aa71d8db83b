package movein

import (
	"slices"

	"postern/core/contract"
	"postern/core/policy"
)

// AccessText says which calls a planned version serves, for people.
func AccessText(v *contract.PlannedVersion) string {
	switch {
	case v.Closed:
		return "refuses every call"
	case v.RequestsAuth.Mode == contract.Passthrough && v.RequestsAuth.Allows(contract.MethodAPIKey):
		if slices.ContainsFunc(v.Rules.List, func(one contract.Rule) bool { return len(one.Groups) > 0 }) {
			return "with a key for some paths, " + policy.KeyPlaceText(v.RequestsAuth.APIKey)
		}
		return "with or without a key"
	case v.RequestsAuth.Mode == contract.Authenticate:
		return "with a key " + policy.KeyPlaceText(v.RequestsAuth.APIKey)
	}
	return "without a key"
}
