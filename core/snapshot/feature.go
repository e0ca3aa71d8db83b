package snapshot

// Feature is one thing a project can use or have, with a declared fate on every
// export target.
type Feature string

// Everything a project can use today. An export target's table must name each
// one; see Features.
const (
	FeatureProject       Feature = "project"
	FeatureVersion       Feature = "version"
	FeatureEnvironment   Feature = "environment"
	FeatureRoute         Feature = "route"
	FeatureAccess        Feature = "access_policy"
	FeatureOwnerFallback Feature = "owner_fallback"
	FeatureTokenIssuer   Feature = "token_issuer"        // whose JSON Web Tokens a version takes
	FeatureIntrospection Feature = "token_introspection" // whom a version asks about opaque tokens
	FeatureHostedLogin   Feature = "hosted_login"        // an app client, whose tokens versions take too
	FeatureKeyType       Feature = "key_type"
	FeatureTenant        Feature = "tenant"
	FeatureKey           Feature = "key"
	FeatureKeyGrace      Feature = "key_rotation_grace"
	FeatureProduct       Feature = "product"
	FeatureLimits        Feature = "rate_limits"
	FeatureIPRules       Feature = "ip_rules" // a version's
	FeatureKeyIPs        Feature = "key_ip_ranges"
	FeatureOpenAPI       Feature = "openapi_document"
	FeatureRequestLimits Feature = "request_limits" // the gateway's own bounds on time and size
)

// What a project has beside its configuration, and what therefore stands in
// every ledger whether used or not.
const (
	FeatureLoginSessions   Feature = "login_sessions"
	FeatureManagedGitHub   Feature = "managed_github_login"
	FeatureObjectOwnership Feature = "object_ownership"
	FeatureUsage           Feature = "usage_analytics"
	FeatureAudit           Feature = "audit_history"
	FeatureCustomDomains   Feature = "custom_domains"
	FeatureSecrets         Feature = "secrets_left_out"
)

// Features is the complete list, in the order a ledger shows them.
func Features() []Feature {
	return append([]Feature{
		FeatureProject, FeatureVersion, FeatureEnvironment, FeatureRoute, FeatureAccess,
		FeatureOwnerFallback, FeatureTokenIssuer, FeatureIntrospection, FeatureHostedLogin, FeatureKeyType, FeatureTenant, FeatureKey, FeatureKeyGrace,
		FeatureProduct, FeatureLimits, FeatureIPRules, FeatureKeyIPs, FeatureOpenAPI,
		FeatureRequestLimits,
	}, AlwaysReported()...)
}

// AlwaysReported lists the features that every ledger carries an item for.
func AlwaysReported() []Feature {
	return []Feature{
		FeatureLoginSessions, FeatureManagedGitHub, FeatureObjectOwnership, FeatureUsage,
		FeatureAudit, FeatureCustomDomains, FeatureSecrets,
	}
}
