package snapshot

// Feature is something that a project can use or have. Every export target declares how it
// exports the feature.
type Feature string

// The features that a project can use. An export target's table must name each one;
// see Features.
const (
	FeatureProject        Feature = "project"
	FeatureBin            Feature = "deleted_project" // the project is in the bin
	FeatureVersion        Feature = "version"
	FeatureEnvironment    Feature = "environment"
	FeatureRoute          Feature = "route"
	FeatureUpstreamHeader Feature = "upstream_header"    // a header with a secret value for the upstream
	FeatureUpstreamCert   Feature = "client_certificate" // presented to an upstream in the TLS handshake
	FeatureCallSigning    Feature = "call_signing"       // signatures of calls to upstreams (RFC 9421)
	FeatureTransform      Feature = "transform"          // changes to a version's requests or responses
	FeatureAccess         Feature = "access_policy"
	FeatureOwnerFallback  Feature = "owner_fallback"
	FeatureTokenIssuer    Feature = "token_issuer"        // an issuer whose JSON Web Tokens a version accepts
	FeatureIntrospection  Feature = "token_introspection" // the endpoint that checks a version's opaque tokens
	FeatureHostedLogin    Feature = "hosted_login"        // an app client, whose tokens versions accept too
	FeatureProvider       Feature = "identity_provider"   // a provider that an app client offers
	FeatureGroupMapping   Feature = "group_mapping"       // a rule by which claims of a provider put users into a group
	FeatureRedirects      Feature = "redirect_uris"       // the addresses of an app client that browsers return to
	FeatureBranding       Feature = "login_branding"      // how the sign-in page of an app client looks
	FeatureUsers          Feature = "users"               // of a tenant, with their identities and memberships
	FeatureUserGroup      Feature = "user_group"
	FeatureSignupPolicy   Feature = "signup_policy" // who may sign in to a tenant for the first time
	FeatureConsents       Feature = "consents"      // of a tenant's users
	FeatureWebhook        Feature = "webhook"
	FeatureUnclaimed      Feature = "unclaimed_caps" // of a project that no one has claimed
	FeatureAPIScope       Feature = "api_scope"      // the audience or a scope that app clients can ask for
	FeatureCORS           Feature = "cors"           // which pages of other origins may call the project
	FeatureTenantCORS     Feature = "tenant_cors"    // the same for calls with a tenant's credentials
	FeatureKeyType        Feature = "key_type"
	FeatureTenant         Feature = "tenant"
	FeatureKey            Feature = "key"
	FeatureKeyGrace       Feature = "key_rotation_grace"
	FeatureProduct        Feature = "product"
	FeatureLimits         Feature = "rate_limits"
	FeatureIPRules        Feature = "ip_rules"     // a version's
	FeatureRule           Feature = "rule"         // what a route of a version requires
	FeatureRuleDefault    Feature = "rule_default" // what routes of a version without a rule get
	FeatureKeyIPs         Feature = "key_ip_ranges"
	FeatureOpenAPI        Feature = "openapi_document"
	FeatureValidation     Feature = "request_validation"  // of a version's requests against its document
	FeaturePublication    Feature = "openapi_publication" // of a version's document at the gateway
	FeatureRequestLimits  Feature = "request_limits"      // the gateway's own bounds on time and size
)

// The features that a project has in addition to its configuration. Every ledger has an item for each, whether the
// project uses it or not.
const (
	FeatureLoginSessions   Feature = "login_sessions"
	FeatureManagedGitHub   Feature = "managed_github_login"
	FeatureObjectOwnership Feature = "object_ownership"
	FeatureUsage           Feature = "usage_analytics"
	FeatureBilling         Feature = "billing_credits"
	FeatureAudit           Feature = "audit_history"
	FeatureCustomDomains   Feature = "custom_domains"
	FeatureSecrets         Feature = "secrets_left_out"
)

// Features returns every feature, in the order of a ledger.
func Features() []Feature {
	return append([]Feature{
		FeatureProject, FeatureBin, FeatureVersion, FeatureEnvironment, FeatureRoute, FeatureUpstreamHeader,
		FeatureUpstreamCert, FeatureCallSigning, FeatureTransform, FeatureAccess, FeatureOwnerFallback,
		FeatureTokenIssuer, FeatureIntrospection, FeatureHostedLogin, FeatureProvider, FeatureGroupMapping,
		FeatureRedirects,
		FeatureBranding, FeatureUsers, FeatureUserGroup, FeatureSignupPolicy, FeatureConsents, FeatureWebhook,
		FeatureUnclaimed, FeatureAPIScope, FeatureCORS, FeatureTenantCORS,
		FeatureKeyType, FeatureTenant, FeatureKey, FeatureKeyGrace, FeatureProduct, FeatureLimits,
		FeatureIPRules, FeatureRule, FeatureRuleDefault, FeatureKeyIPs, FeatureOpenAPI, FeatureValidation,
		FeaturePublication, FeatureRequestLimits,
	}, AlwaysReported()...)
}

// AlwaysReported returns the features that every ledger has an item for.
func AlwaysReported() []Feature {
	return []Feature{
		FeatureLoginSessions, FeatureManagedGitHub, FeatureObjectOwnership, FeatureUsage,
		FeatureBilling, FeatureAudit, FeatureCustomDomains, FeatureSecrets,
	}
}
