package bundle

import "postern/core/snapshot"

// Area is a part of a product that items of a ledger are about.
type Area string

// The areas, in the order of a ledger.
const (
	AreaProject  Area = "project"
	AreaUpstream Area = "upstream" // routes, and how calls reach upstreams
	AreaAccess   Area = "access"   // who may call, from where and how often
	AreaKeys     Area = "keys"
	AreaLogin    Area = "login"
	AreaPeople   Area = "people"
	AreaRecords  Area = "records" // what Postern keeps besides the configuration
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

// AreaTitle is an area and what people call it.
type AreaTitle struct {
	Area  Area
	Title string
}

// topic is what people call a feature, and the area it belongs to.
type topic struct {
	area  Area
	title string
}

// AreaOf returns the area of a feature.
func AreaOf(f snapshot.Feature) Area { return topics[f].area }

// TitleOf returns what people call a feature; of an unknown one its name.
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
	snapshot.FeatureRequestLimits:  {AreaUpstream, "Details of HTTP"},
	snapshot.FeatureCustomDomains:  {AreaUpstream, "Host names"},

	snapshot.FeatureAccess:        {AreaAccess, "Access policies"},
	snapshot.FeatureOwnerFallback: {AreaAccess, "Fallback owners"},
	snapshot.FeatureTokenIssuer:   {AreaAccess, "Token issuers"},
	snapshot.FeatureIntrospection: {AreaAccess, "Token introspection"},
	snapshot.FeatureCORS:          {AreaAccess, "Cross-origin calls (CORS)"},
	snapshot.FeatureTenantCORS:    {AreaAccess, "Cross-origin calls of tenants"},
	snapshot.FeatureAPIScope:      {AreaAccess, "API scopes"},
	snapshot.FeatureLimits:        {AreaAccess, "Rate limits"},
	snapshot.FeatureIPRules:       {AreaAccess, "Address rules"},
	snapshot.FeatureRule:          {AreaAccess, "Rules of routes"},
	snapshot.FeatureRuleDefault:   {AreaAccess, "Routes without a rule"},

	snapshot.FeatureKeyType:  {AreaKeys, "Key types"},
	snapshot.FeatureKey:      {AreaKeys, "API keys"},
	snapshot.FeatureKeyGrace: {AreaKeys, "Old secrets of rotated keys"},
	snapshot.FeatureKeyIPs:   {AreaKeys, "Address ranges of keys"},

	snapshot.FeatureHostedLogin:   {AreaLogin, "App clients"},
	snapshot.FeatureProvider:      {AreaLogin, "Identity providers"},
	snapshot.FeatureGroupMapping:  {AreaLogin, "Group mappings"},
	snapshot.FeatureRedirects:     {AreaLogin, "Redirect addresses"},
	snapshot.FeatureBranding:      {AreaLogin, "Look of the sign-in page"},
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
	snapshot.FeatureAudit:           {AreaRecords, "Audit history"},
	snapshot.FeatureWebhook:         {AreaRecords, "Webhooks"},
	snapshot.FeatureUnclaimed:       {AreaRecords, "Caps of unclaimed projects"},
	snapshot.FeatureSecrets:         {AreaRecords, "Secrets"},
}
