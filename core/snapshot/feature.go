package snapshot

// Feature is something that a project can use or have. Every export target declares how it
// exports the feature.
type Feature string

// The features that a project can use. The table below has each one, and so must an export target's.
const (
	FeatureProject        Feature = "project"
	FeatureBin            Feature = "deleted_project" // the project is in the trash
	FeatureVersion        Feature = "version"
	FeatureEnvironment    Feature = "environment"
	FeatureRoute          Feature = "route"
	FeatureTimeouts       Feature = "upstream_timeouts"
	FeatureRetries        Feature = "upstream_retries"
	FeatureTargets        Feature = "upstream_targets"
	FeatureChecks         Feature = "upstream_checks"
	FeatureBreaker        Feature = "upstream_breaker"
	FeatureUpstreamCA     Feature = "upstream_ca"          // the authorities that an upstream's certificate can be from
	FeatureUpstreamHTTP   Feature = "upstream_http"        // the version of HTTP, other than 1.1
	FeatureServerName     Feature = "upstream_server_name" // that an upstream's certificate must be valid for
	FeatureHostHeader     Feature = "upstream_host_header" // the Host header of calls to an upstream
	FeatureUpstreamHeader Feature = "upstream_header"      // a header with a secret value for the upstream
	FeatureUpstreamCert   Feature = "client_certificate"   // presented to an upstream in the TLS handshake
	FeatureCallSigning    Feature = "call_signing"         // signatures of calls to upstreams (RFC 9421)
	FeatureTransform      Feature = "transform"            // changes to a version's requests or responses
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
	FeatureAPIScope       Feature = "api_scope"      // the audience or a scope that app clients can request
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

// Area is a part of the product, by which items of a ledger are grouped.
type Area string

// The areas.
const (
	AreaProject  Area = "project"
	AreaUpstream Area = "upstream" // routes and upstreams
	AreaAccess   Area = "access"   // who may call, from where and how often
	AreaKeys     Area = "keys"
	AreaLogin    Area = "login"
	AreaPeople   Area = "people"
	AreaRecords  Area = "records" // data outside the configuration
)

// AreaTitle is an area with its title.
type AreaTitle struct {
	Area  Area
	Title string
}

// Areas returns every area with its title, in the order of a ledger.
func Areas() []AreaTitle {
	return []AreaTitle{
		{AreaProject, "Project and versions"},
		{AreaUpstream, "Routes and upstreams"},
		{AreaAccess, "Access and limits"},
		{AreaKeys, "API keys"},
		{AreaLogin, "Login"},
		{AreaPeople, "Users and tenants"},
		{AreaRecords, "Records and secrets"},
	}
}

// topic is a feature with the area it belongs to and its title.
type topic struct {
	feature Feature
	area    Area
	title   string
}

// used are the features that a project can use, in the order of a ledger.
var used = []topic{
	{FeatureProject, AreaProject, "Project"},
	{FeatureBin, AreaProject, "Deleted project"},
	{FeatureVersion, AreaProject, "Versions"},
	{FeatureEnvironment, AreaUpstream, "Environments"},
	{FeatureRoute, AreaUpstream, "Routes"},
	{FeatureTimeouts, AreaUpstream, "Upstream timeouts"},
	{FeatureRetries, AreaUpstream, "Retries"},
	{FeatureTargets, AreaUpstream, "Upstream targets"},
	{FeatureChecks, AreaUpstream, "Health checks"},
	{FeatureBreaker, AreaUpstream, "Circuit breaker"},
	{FeatureUpstreamCA, AreaUpstream, "Upstream certificate authorities"},
	{FeatureUpstreamHTTP, AreaUpstream, "Upstream HTTP versions"},
	{FeatureServerName, AreaUpstream, "Upstream server names"},
	{FeatureHostHeader, AreaUpstream, "Upstream Host headers"},
	{FeatureUpstreamHeader, AreaUpstream, "Upstream headers"},
	{FeatureUpstreamCert, AreaUpstream, "Client certificates"},
	{FeatureCallSigning, AreaUpstream, "Call signing"},
	{FeatureTransform, AreaUpstream, "Transforms"},
	{FeatureAccess, AreaAccess, "Access policies"},
	{FeatureOwnerFallback, AreaAccess, "Fallback owners"},
	{FeatureTokenIssuer, AreaAccess, "Token issuers"},
	{FeatureIntrospection, AreaAccess, "Token introspection"},
	{FeatureHostedLogin, AreaLogin, "App clients"},
	{FeatureProvider, AreaLogin, "Identity providers"},
	{FeatureGroupMapping, AreaLogin, "Group mappings"},
	{FeatureRedirects, AreaLogin, "Redirect URIs"},
	{FeatureBranding, AreaLogin, "Sign-in page branding"},
	{FeatureUsers, AreaPeople, "Users"},
	{FeatureUserGroup, AreaPeople, "Groups"},
	{FeatureSignupPolicy, AreaPeople, "Sign-up policies"},
	{FeatureConsents, AreaPeople, "Consents"},
	{FeatureWebhook, AreaRecords, "Webhooks"},
	{FeatureUnclaimed, AreaRecords, "Unclaimed project caps"},
	{FeatureAPIScope, AreaAccess, "API scopes"},
	{FeatureCORS, AreaAccess, "CORS"},
	{FeatureTenantCORS, AreaAccess, "Tenant CORS"},
	{FeatureKeyType, AreaKeys, "Key types"},
	{FeatureTenant, AreaPeople, "Tenants"},
	{FeatureKey, AreaKeys, "API keys"},
	{FeatureKeyGrace, AreaKeys, "Previous secrets for rotated keys"},
	{FeatureProduct, AreaProject, "Product"},
	{FeatureLimits, AreaAccess, "Rate limits"},
	{FeatureIPRules, AreaAccess, "IP rules"},
	{FeatureRule, AreaAccess, "Route rules"},
	{FeatureRuleDefault, AreaAccess, "Routes without a rule"},
	{FeatureKeyIPs, AreaKeys, "Key IP ranges"},
	{FeatureOpenAPI, AreaProject, "OpenAPI documents"},
	{FeatureValidation, AreaUpstream, "Request validation"},
	{FeaturePublication, AreaUpstream, "Published OpenAPI documents"},
	{FeatureRequestLimits, AreaUpstream, "HTTP differences"},
}

// reported are the features that every ledger has an item for, in its order after those used.
var reported = []topic{
	{FeatureLoginSessions, AreaLogin, "Login sessions"},
	{FeatureManagedGitHub, AreaLogin, "Shared GitHub login"},
	{FeatureObjectOwnership, AreaRecords, "Object ownership"},
	{FeatureUsage, AreaRecords, "Usage analytics"},
	{FeatureBilling, AreaRecords, "Billing credits"},
	{FeatureAudit, AreaRecords, "Audit log"},
	{FeatureCustomDomains, AreaUpstream, "Custom domains"},
	{FeatureSecrets, AreaRecords, "Secrets"},
}

// Features returns every feature, in the order of a ledger.
func Features() []Feature { return append(featuresOf(used), AlwaysReported()...) }

// AlwaysReported returns the features that every ledger has an item for.
func AlwaysReported() []Feature { return featuresOf(reported) }

func featuresOf(topics []topic) []Feature {
	out := make([]Feature, len(topics))
	for i, t := range topics {
		out[i] = t.feature
	}
	return out
}

// Area returns the area that a feature belongs to.
func (f Feature) Area() Area { return f.topic().area }

// Title returns the title of a feature, or its name if it is unknown.
func (f Feature) Title() string { return f.topic().title }

func (f Feature) topic() topic {
	for _, topics := range [][]topic{used, reported} {
		for _, t := range topics {
			if t.feature == f {
				return t
			}
		}
	}
	return topic{title: string(f)}
}
