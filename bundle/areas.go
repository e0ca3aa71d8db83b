package bundle

import "postern/core/snapshot"

// Area is a part of the product, by which items of a ledger are grouped.
type Area string

// The areas, in the order of a ledger.
const (
	AreaProject  Area = "project"
	AreaUpstream Area = "upstream" // routes and upstreams
	AreaAccess   Area = "access"   // who may call, from where and how often
	AreaKeys     Area = "keys"
	AreaLogin    Area = "login"
	AreaPeople   Area = "people"
	AreaRecords  Area = "records" // data outside the configuration
)

// Areas returns every area with its title.
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

// AreaTitle is an area with its title.
type AreaTitle struct {
	Area  Area
	Title string
}

// topic is the title of a feature and the area it belongs to.
type topic struct {
	area  Area
	title string
}

// AreaOf returns the area of a feature.
func AreaOf(f snapshot.Feature) Area { return topics[f].area }

// TitleOf returns the title of a feature, or its name if it is unknown.
func TitleOf(f snapshot.Feature) string {
	if t, ok := topics[f]; ok {
		return t.title
	}
	return string(f)
}

var topics = map[snapshot.Feature]topic{
	snapshot.FeatureProject: {AreaProject, "Project"},
	snapshot.FeatureBin:     {AreaProject, "Deleted project"},
	snapshot.FeatureVersion: {AreaProject, "Versions"},
	snapshot.FeatureOpenAPI: {AreaProject, "API descriptions"},
	snapshot.FeatureProduct: {AreaProject, "Product"},

	snapshot.FeatureValidation:  {AreaUpstream, "Request validation"},
	snapshot.FeaturePublication: {AreaUpstream, "Published API descriptions"},

	snapshot.FeatureEnvironment:    {AreaUpstream, "Environments"},
	snapshot.FeatureRoute:          {AreaUpstream, "Routes"},
	snapshot.FeatureUpstreamHeader: {AreaUpstream, "Upstream headers"},
	snapshot.FeatureUpstreamCert:   {AreaUpstream, "Client certificates"},
	snapshot.FeatureCallSigning:    {AreaUpstream, "Call signing"},
	snapshot.FeatureTransform:      {AreaUpstream, "Transforms"},
	snapshot.FeatureRequestLimits:  {AreaUpstream, "HTTP differences"},
	snapshot.FeatureCustomDomains:  {AreaUpstream, "Custom domains"},

	snapshot.FeatureAccess:        {AreaAccess, "Access policies"},
	snapshot.FeatureOwnerFallback: {AreaAccess, "Fallback owners"},
	snapshot.FeatureTokenIssuer:   {AreaAccess, "Token issuers"},
	snapshot.FeatureIntrospection: {AreaAccess, "Token introspection"},
	snapshot.FeatureCORS:          {AreaAccess, "CORS"},
	snapshot.FeatureTenantCORS:    {AreaAccess, "CORS of tenants"},
	snapshot.FeatureAPIScope:      {AreaAccess, "API scopes"},
	snapshot.FeatureLimits:        {AreaAccess, "Rate limits"},
	snapshot.FeatureIPRules:       {AreaAccess, "IP rules"},
	snapshot.FeatureRule:          {AreaAccess, "Route rules"},
	snapshot.FeatureRuleDefault:   {AreaAccess, "Routes without a rule"},

	snapshot.FeatureKeyType:  {AreaKeys, "Key types"},
	snapshot.FeatureKey:      {AreaKeys, "API keys"},
	snapshot.FeatureKeyGrace: {AreaKeys, "Old secrets of rotated keys"},
	snapshot.FeatureKeyIPs:   {AreaKeys, "IP ranges of keys"},

	snapshot.FeatureHostedLogin:   {AreaLogin, "App clients"},
	snapshot.FeatureProvider:      {AreaLogin, "Identity providers"},
	snapshot.FeatureGroupMapping:  {AreaLogin, "Group mappings"},
	snapshot.FeatureRedirects:     {AreaLogin, "Redirect URIs"},
	snapshot.FeatureBranding:      {AreaLogin, "Sign-in page branding"},
	snapshot.FeatureLoginSessions: {AreaLogin, "Login sessions"},
	snapshot.FeatureManagedGitHub: {AreaLogin, "Shared GitHub login"},

	snapshot.FeatureTenant:       {AreaPeople, "Tenants"},
	snapshot.FeatureUsers:        {AreaPeople, "Users"},
	snapshot.FeatureUserGroup:    {AreaPeople, "Groups"},
	snapshot.FeatureSignupPolicy: {AreaPeople, "Sign-up policies"},
	snapshot.FeatureConsents:     {AreaPeople, "Consents"},

	snapshot.FeatureObjectOwnership: {AreaRecords, "Object ownership"},
	snapshot.FeatureUsage:           {AreaRecords, "Usage analytics"},
	snapshot.FeatureBilling:         {AreaRecords, "Billing credits"},
	snapshot.FeatureAudit:           {AreaRecords, "Audit log"},
	snapshot.FeatureWebhook:         {AreaRecords, "Webhooks"},
	snapshot.FeatureUnclaimed:       {AreaRecords, "Caps of unclaimed projects"},
	snapshot.FeatureSecrets:         {AreaRecords, "Secrets"},
}
