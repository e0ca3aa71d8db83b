package kong

import "postern/bundle"

func ruleFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "not_enforced",
		Status: bundle.Skipped,
		How:    "`authz/rules.json`",
		Note:   "The rule stands in rules.json. The exported gateway does not enforce it.",
		Remedy: "Check the caller's scopes and groups in the upstream: it gets them in X-Authenticated-Scope and " +
			"X-Consumer-Groups.",
	}}
}
