package bundle_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// shown has the feature of a field, and a text of its value in fullProject that a data
// export must contain.
type shown struct {
	feature snapshot.Feature
	text    string
}

var fields = map[string]shown{
	"Project.ID":            {snapshot.FeatureProject, sample.ProjectID},
	"Project.Name":          {snapshot.FeatureProject, "pr-name"},
	"Project.DisplayName":   {snapshot.FeatureProject, "Pr Display"},
	"Project.FallbackOwner": {snapshot.FeatureOwnerFallback, "pr-fallback"},
	"Project.CreatedAt":     {snapshot.FeatureProject, "2021-01-01T00:00:00Z"},
	"Project.ExpiresAt":     {snapshot.FeatureProject, "2022-01-01T00:00:00Z"},
	"Project.Revision":      {snapshot.FeatureProject, "987654"},
	"Project.RevisedAt":     {snapshot.FeatureProject, "2023-01-01T00:00:00Z"},
	"Project.KeyTypes":      {snapshot.FeatureKeyType, "kty_full"},
	"Project.Tenants":       {snapshot.FeatureTenant, "tnt_full"},
	"Project.Versions":      {snapshot.FeatureVersion, "ver_full"},

	"Project.ProductID":    {snapshot.FeatureProduct, "prd_full"},
	"Project.Product":      {snapshot.FeatureProduct, "pd-name"},
	"Project.ProductTitle": {snapshot.FeatureProduct, `"display_name": "Pd Display"`},
	"Project.Limits":       {snapshot.FeatureLimits, `"hour": 71001`},

	"Project.API":          {snapshot.FeatureAPIScope, "https://ap.example"},
	"API.Audience":         {snapshot.FeatureAPIScope, `"audience": "https://ap.example"`},
	"API.Scopes":           {snapshot.FeatureAPIScope, "ap:scope"},
	"APIScope.Name":        {snapshot.FeatureAPIScope, `"name": "ap:scope"`},
	"APIScope.Description": {snapshot.FeatureAPIScope, `"description": "ap description"`},

	"Project.CORS":        {snapshot.FeatureCORS, `"cors"`},
	"Tenant.CORS":         {snapshot.FeatureTenantCORS, "https://tc.example"},
	"CORS.Origins":        {snapshot.FeatureCORS, "https://co.example"},
	"CORS.AppOrigins":     {snapshot.FeatureCORS, `"app_origins": true`},
	"CORS.FromApps":       {snapshot.FeatureCORS, "https://fa.example"},
	"CORS.Methods":        {snapshot.FeatureCORS, "PATCH"},
	"CORS.Headers":        {snapshot.FeatureCORS, "Co-Header"},
	"CORS.ExposedHeaders": {snapshot.FeatureCORS, "Co-Exposed"},
	"CORS.Credentials":    {snapshot.FeatureCORS, `"credentials": true`},
	"CORS.MaxAge":         {snapshot.FeatureCORS, "77007"},

	"Project.CallSigningKeys":       {snapshot.FeatureCallSigning, `"call_signing"`},
	"CallSigningKey.ID":             {snapshot.FeatureCallSigning, `"id": "cs-thumbprint"`},
	"CallSigningKey.Public":         {snapshot.FeatureCallSigning, `"public_key": "Y3MtcHVibGlj"`},
	"CallSigningKey.SignsFrom":      {snapshot.FeatureCallSigning, `"signs_from": "2026-01-01T00:00:00Z"`},
	"CallSigningKey.PublishedUntil": {snapshot.FeatureCallSigning, `"published_until": "2027-01-01T00:00:00Z"`},

	"Project.Clients":        {snapshot.FeatureHostedLogin, `"id": "cli_full"`},
	"Project.Barred":         {snapshot.FeatureHostedLogin, `"id": "usr_full"`},
	"Project.EndedSessions":  {snapshot.FeatureLoginSessions, "ses_full"},
	"Project.GroupsLeft":     {snapshot.FeatureHostedLogin, `"groups_left"`},
	"GroupsLeft.User":        {snapshot.FeatureHostedLogin, `"id": "usr_left"`},
	"GroupsLeft.At":          {snapshot.FeatureHostedLogin, `"at": 1700000001`},
	"BarredUser.ID":          {snapshot.FeatureHostedLogin, `"id": "usr_full"`},
	"BarredUser.Deleted":     {snapshot.FeatureHostedLogin, `"deleted": true`},
	"AppClient.ID":           {snapshot.FeatureHostedLogin, `"id": "cli_full"`},
	"AppClient.Name":         {snapshot.FeatureHostedLogin, `"name": "ac-name"`},
	"AppClient.Issuer":       {snapshot.FeatureHostedLogin, `"issuer": "https://ac.example/oauth/cli_full"`},
	"AppClient.TenantID":     {snapshot.FeatureHostedLogin, `"issuers"`}, // by the folder
	"AppClient.Keys":         {snapshot.FeatureHostedLogin, `"kid": "sig_full"`},
	"AppClient.Providers":    {snapshot.FeatureProvider, `"id": "idp_full"`},
	"AppClient.Machine":      {snapshot.FeatureHostedLogin, `"machine": true`},
	"AppClient.Frozen":       {snapshot.FeatureHostedLogin, `"frozen": true`},
	"SigningKey.ID":          {snapshot.FeatureHostedLogin, `"kid": "sig_full"`},
	"SigningKey.Algorithm":   {snapshot.FeatureHostedLogin, `"alg": "sk-alg"`},
	"SigningKey.JWK":         {snapshot.FeatureHostedLogin, `"kty": "sk-jwk"`},
	"SigningKey.ExpiresAt":   {snapshot.FeatureHostedLogin, "2028-01-01T00:00:00Z"},
	"Provider.ID":            {snapshot.FeatureProvider, `"id": "idp_full"`},
	"Provider.Type":          {snapshot.FeatureProvider, `"type": "oidc"`},
	"Provider.ClientID":      {snapshot.FeatureProvider, `"client_id": "pv-app"`},
	"Provider.Issuer":        {snapshot.FeatureProvider, `"issuer": "https://pv.example"`},
	"Provider.Enabled":       {snapshot.FeatureProvider, `"enabled": true`},
	"Provider.ClientToken":   {snapshot.FeatureProvider, `"client": "provider"`},
	"Provider.UpstreamToken": {snapshot.FeatureProvider, `"upstream": "provider_id_token"`},

	"ProjectLimits.Key":     {snapshot.FeatureLimits, `"second": 71000`},
	"ProjectLimits.Owner":   {snapshot.FeatureLimits, `"hour": 71001`},
	"ProjectLimits.IP":      {snapshot.FeatureLimits, `"day": 71002`},
	"ProjectLimits.Project": {snapshot.FeatureLimits, `"year": 71003`},

	"IPRules.Allow": {snapshot.FeatureIPRules, "192.0.2.0/24"},
	"IPRules.Deny":  {snapshot.FeatureIPRules, "2001:db8::/32"},

	"Version.Transforms":      {snapshot.FeatureTransform, "Tr-Remove"},
	"Transforms.Request":      {snapshot.FeatureTransform, "Tr-Add:added"},
	"Transforms.Query":        {snapshot.FeatureTransform, "tr-query:1"},
	"Transforms.RequestBody":  {snapshot.FeatureTransform, "tr-body:1"},
	"Transforms.Response":     {snapshot.FeatureTransform, "Tr-Response"},
	"Transforms.ResponseBody": {snapshot.FeatureTransform, "tr-member:1"},
	"BodyChanges.Changes":     {snapshot.FeatureTransform, "tr-added:true"},
	"BodyChanges.Types":       {snapshot.FeatureTransform, `"boolean"`},
	"ChangeTypes.Replace":     {snapshot.FeatureTransform, `"number"`},
	"ChangeTypes.Add":         {snapshot.FeatureTransform, `"boolean"`},
	"ChangeTypes.Append":      {snapshot.FeatureTransform, `"number"`},
	"Changes.Remove":          {snapshot.FeatureTransform, "Tr-Remove"},
	"Changes.Rename":          {snapshot.FeatureTransform, "Tr-Rename:Tr-Renamed"},
	"Changes.Replace":         {snapshot.FeatureTransform, "Tr-Replace:replaced"},
	"Changes.Add":             {snapshot.FeatureTransform, "Tr-Add:added"},
	"Changes.Append":          {snapshot.FeatureTransform, "Tr-Append:appended"},

	"Version.Rules":         {snapshot.FeatureRule, "rul_full"},
	"Rules.Default":         {snapshot.FeatureRuleDefault, `"default": "deny"`},
	"Rules.Mode":            {snapshot.FeatureRuleDefault, `"mode": "shadow"`},
	"Rules.ReadWriteScopes": {snapshot.FeatureRuleDefault, `"read_write_scopes": true`},
	"Rules.List":            {snapshot.FeatureRule, "rul_full"},
	"Rule.ID":               {snapshot.FeatureRule, `"id": "rul_full"`},
	"Rule.Methods":          {snapshot.FeatureRule, "RU-METHOD"},
	"Rule.Path":             {snapshot.FeatureRule, `"path": "/ru/{path}"`},
	"Rule.Scopes":           {snapshot.FeatureRule, "ru:scope"},
	"Rule.Groups":           {snapshot.FeatureRule, "ru-group"},
	"Rule.Role":             {snapshot.FeatureRule, `"role": "admin"`},
	"Rule.Owner":            {snapshot.FeatureRule, `"owner": "ru-owner:{path}"`},
	"Rule.Remember":         {snapshot.FeatureRule, `"remember": "ru-remember:{response.id}"`},
	"Rule.Forget":           {snapshot.FeatureRule, `"forget": "ru-forget:{path}"`},
	"Rule.Mode":             {snapshot.FeatureRule, `"mode": "enforce"`},
	"Project.Members":       {snapshot.FeatureRule, `"user": "usr_member"`},
	"Member.User":           {snapshot.FeatureRule, `"user": "usr_member"`},
	"Member.TenantID":       {snapshot.FeatureRule, `"tenant_id": "me-tenant"`},
	"Member.In":             {snapshot.FeatureRule, "me-group"},
	"Member.Admin":          {snapshot.FeatureRule, "me-admin"},

	"Version.Validation":   {snapshot.FeatureValidation, `"request_validation": "enforce"`},
	"Version.Publication":  {snapshot.FeaturePublication, `"openapi_publication": "callers"`},
	"Version.OpenAPI":      {snapshot.FeatureOpenAPI, "OA-title"},
	"Version.ID":           {snapshot.FeatureVersion, "ver_full"},
	"Version.Name":         {snapshot.FeatureVersion, "7.8.9-vname"},
	"Version.Access":       {snapshot.FeatureAccess, "owner_fallback"},
	"Version.Environments": {snapshot.FeatureEnvironment, "env_full"},

	"Access.Mode":    {snapshot.FeatureAccess, "authenticate"},
	"Access.Methods": {snapshot.FeatureAccess, "api_key"},
	"Access.Keyless": {snapshot.FeatureAccess, "owner_fallback"},
	"Access.APIKey":  {snapshot.FeatureAccess, "X-Full-Key"},

	"Access.JWT":           {snapshot.FeatureTokenIssuer, "https://ti.example/"},
	"TokenIssuer.Issuer":   {snapshot.FeatureTokenIssuer, `"iss": "https://ti.example/"`},
	"TokenIssuer.Audience": {snapshot.FeatureTokenIssuer, `"aud": "ti-audience"`},
	"TokenIssuer.JWKSURL":  {snapshot.FeatureTokenIssuer, `"jwks_url": "https://ti.example/keys"`},
	"TokenIssuer.Tenant":   {snapshot.FeatureTokenIssuer, `"tenant": "ti-tenant"`},

	"Access.Opaque":                {snapshot.FeatureIntrospection, "https://in.example/introspect"},
	"SavedIntrospection.Endpoint":  {snapshot.FeatureIntrospection, `"endpoint": "https://in.example/introspect"`},
	"SavedIntrospection.Method":    {snapshot.FeatureIntrospection, `"method": "client_secret_post"`},
	"SavedIntrospection.ClientID":  {snapshot.FeatureIntrospection, `"client_id": "in-client"`},
	"SavedIntrospection.HasSecret": {snapshot.FeatureIntrospection, `"has_secret": true`},
	"SavedIntrospection.Issuer":    {snapshot.FeatureIntrospection, `"iss": "https://in.example"`},
	"SavedIntrospection.Audience":  {snapshot.FeatureIntrospection, `"aud": "in-audience"`},

	"Access.IP": {snapshot.FeatureIPRules, "192.0.2.0/24"},

	"Environment.ID":      {snapshot.FeatureEnvironment, "env_full"},
	"Environment.Name":    {snapshot.FeatureRoute, "en-name"},
	"Environment.Target":  {snapshot.FeatureEnvironment, "http://en.example/target"},
	"Environment.Domains": {snapshot.FeatureCustomDomains, "own.en.example"},
	"Domain.Shared":       {snapshot.FeatureCustomDomains, `"shared": true`},
	"Domain.Host":         {snapshot.FeatureCustomDomains, `"host": "own.en.example"`},
	"Domain.PathPrefix":   {snapshot.FeatureCustomDomains, `"path_prefix": "/own-prefix"`},
	"Domain.StripPrefix":  {snapshot.FeatureCustomDomains, `"strip_prefix": true`},
	"Domain.Methods":      {snapshot.FeatureCustomDomains, "OWNMETHOD"},

	"Environment.Upstream":          {snapshot.FeatureTimeouts, `"upstream"`},
	"Upstream.Timeouts":             {snapshot.FeatureTimeouts, `"timeouts"`},
	"Upstream.HTTP":                 {snapshot.FeatureUpstreamHTTP, `"http"`},
	"Upstream.Retries":              {snapshot.FeatureRetries, `"retries"`},
	"UpstreamRetries.Max":           {snapshot.FeatureRetries, `"max": 61006`},
	"UpstreamRetries.On":            {snapshot.FeatureRetries, `61007`},
	"UpstreamTimeouts.ConnectMS":    {snapshot.FeatureTimeouts, `"connect_ms": 61001`},
	"UpstreamTimeouts.ResponseMS":   {snapshot.FeatureTimeouts, `"response_ms": 61002`},
	"UpstreamTimeouts.IdleMS":       {snapshot.FeatureTimeouts, `"idle_ms": 61003`},
	"UpstreamTimeouts.StreamIdleMS": {snapshot.FeatureTimeouts, `"stream_idle_ms": 61004`},
	"UpstreamTimeouts.ReuseIdleMS":  {snapshot.FeatureTimeouts, `"reuse_idle_ms": 61005`},
	"Upstream.CA":                   {snapshot.FeatureUpstreamCA, `"ca"`},
	"UpstreamCA.PEM":                {snapshot.FeatureUpstreamCA, `"pem": "-----BEGIN CERTIFICATE-----`},
	"UpstreamCA.System":             {snapshot.FeatureUpstreamCA, `"system": false`},
	"Upstream.ServerName":           {snapshot.FeatureServerName, `"server_name": "sn.internal"`},
	"Upstream.HostHeader":           {snapshot.FeatureHostHeader, `"host_header": "hh.internal"`},

	"Upstream.Targets":               {snapshot.FeatureTargets, `"targets": [`},
	"Upstream.Balance":               {snapshot.FeatureTargets, `"header": "X-En-Hash"`},
	"UpstreamTarget.URL":             {snapshot.FeatureTargets, `"url": "http://en-2.example/target"`},
	"UpstreamTarget.Weight":          {snapshot.FeatureTargets, `"weight": 61010`},
	"Upstream.Checks":                {snapshot.FeatureChecks, `"checks": {`},
	"UpstreamChecks.Path":            {snapshot.FeatureChecks, `"path": "/en-check"`},
	"UpstreamChecks.IntervalMS":      {snapshot.FeatureChecks, `"interval_ms": 61020`},
	"UpstreamChecks.TimeoutMS":       {snapshot.FeatureChecks, `"timeout_ms": 61021`},
	"UpstreamChecks.Healthy":         {snapshot.FeatureChecks, `"healthy": 22`},
	"UpstreamChecks.Unhealthy":       {snapshot.FeatureChecks, `"unhealthy": 23`},
	"UpstreamChecks.Statuses":        {snapshot.FeatureChecks, `"230-231"`},
	"UpstreamChecks.PassiveFailures": {snapshot.FeatureChecks, `"passive_failures": 624`},
	"Upstream.Breaker":               {snapshot.FeatureBreaker, `"breaker": {`},
	"UpstreamBreaker.Failures":       {snapshot.FeatureBreaker, `"failures": 631`},
	"UpstreamBreaker.WindowMS":       {snapshot.FeatureBreaker, `"window_ms": 61032`},
	"UpstreamBreaker.OpenMS":         {snapshot.FeatureBreaker, `"open_ms": 61033`},

	"Environment.Headers":     {snapshot.FeatureUpstreamHeader, `"X-En-Header"`},
	"Environment.Certificate": {snapshot.FeatureUpstreamCert, `"client_certificate"`},
	"ClientCertificate.Chain": {snapshot.FeatureUpstreamCert, `"client_certificate": "en-chain"`},
	"UpstreamHeader.Name":     {snapshot.FeatureUpstreamHeader, `"X-En-Header"`},

	"KeyType.ID":        {snapshot.FeatureKeyType, "kty_full"},
	"KeyType.Name":      {snapshot.FeatureKeyType, "ktname"},
	"KeyType.Scopes":    {snapshot.FeatureKeyType, "kt:scope"},
	"KeyType.ExpiresIn": {snapshot.FeatureKeyType, "13579"},
	"KeyType.Limits":    {snapshot.FeatureLimits, `"minute": 71004`},
	"KeyType.BuiltIn":   {snapshot.FeatureKeyType, `"built_in": true`},

	"Tenant.ID":            {snapshot.FeatureTenant, "tnt_full"},
	"Tenant.Name":          {snapshot.FeatureTenant, "te-name"},
	"Tenant.FallbackOwner": {snapshot.FeatureOwnerFallback, "te-fallback"},
	"Tenant.Detached":      {snapshot.FeatureTenant, `"detached": true`},
	"Tenant.DisplayName":   {snapshot.FeatureTenant, "Te Display"},
	"Tenant.Directory":     {snapshot.FeatureUsers, `"users": 1`},

	"Directory.InviteOnly": {snapshot.FeatureSignupPolicy, `"invite_only": true`},
	"Directory.Approvals":  {snapshot.FeatureSignupPolicy, "apr_full"},
	"Directory.Groups":     {snapshot.FeatureUserGroup, "grp_full"},
	"Directory.Users":      {snapshot.FeatureUsers, `"users": 1`},
	"Directory.Consents":   {snapshot.FeatureConsents, `"consents": 1`},

	"Approval.ID":        {snapshot.FeatureSignupPolicy, "apr_full"},
	"Approval.Kind":      {snapshot.FeatureSignupPolicy, `"kind": "domain"`},
	"Approval.Value":     {snapshot.FeatureSignupPolicy, "ap.example"},
	"Approval.Groups":    {snapshot.FeatureSignupPolicy, "grp_ap"},
	"Approval.CreatedAt": {snapshot.FeatureSignupPolicy, "2001-01-01T00:00:00Z"},

	"Group.ID":          {snapshot.FeatureUserGroup, "grp_full"},
	"Group.Name":        {snapshot.FeatureUserGroup, "gr-name"},
	"Group.DisplayName": {snapshot.FeatureUserGroup, "Gr Display"},
	"Group.ExternalID":  {snapshot.FeatureUserGroup, "gr-external"},
	"Group.Parents":     {snapshot.FeatureUserGroup, "grp_parent"},
	"Group.Owners":      {snapshot.FeatureUserGroup, "gr-app"},
	"Group.CreatedAt":   {snapshot.FeatureUserGroup, "2002-01-01T00:00:00Z"},
	"Group.UpdatedAt":   {snapshot.FeatureUserGroup, "2003-01-01T00:00:00Z"},

	"GroupOwner.Owner":     {snapshot.FeatureUserGroup, `"owner": "gr-app"`},
	"GroupOwner.Role":      {snapshot.FeatureUserGroup, `"role": "admin"`},
	"GroupOwner.CreatedAt": {snapshot.FeatureUserGroup, "2008-01-01T00:00:00Z"},

	"User.ID":            {snapshot.FeatureUsers, "usr_person"},
	"User.Email":         {snapshot.FeatureUsers, "us@mail.example"},
	"User.EmailVerified": {snapshot.FeatureUsers, `"email_verified":true`},
	"User.Name":          {snapshot.FeatureUsers, "Us Name"},
	"User.Profile":       {snapshot.FeatureUsers, `"nickname":"usnick"`},
	"User.UserName":      {snapshot.FeatureUsers, "us-user-name"},
	"User.ExternalID":    {snapshot.FeatureUsers, "us-external"},
	"User.State":         {snapshot.FeatureUsers, `"state":"frozen"`},
	"User.CreatedAt":     {snapshot.FeatureUsers, "2004-01-01T00:00:00Z"},
	"User.UpdatedAt":     {snapshot.FeatureUsers, "2005-01-01T00:00:00Z"},
	"User.Identities":    {snapshot.FeatureUsers, "id-subject"},
	"User.Memberships":   {snapshot.FeatureUsers, `"role":"admin"`},
	"User.Consents":      {snapshot.FeatureConsents, "co:scope"},

	"Identity.Issuer":     {snapshot.FeatureUsers, "id-issuer"},
	"Identity.Subject":    {snapshot.FeatureUsers, "id-subject"},
	"Identity.ProviderID": {snapshot.FeatureUsers, "idp_first"},
	"Identity.CreatedAt":  {snapshot.FeatureUsers, "2006-01-01T00:00:00Z"},

	"Membership.GroupID":   {snapshot.FeatureUsers, `"id":"grp_full"`},
	"Membership.Role":      {snapshot.FeatureUsers, `"role":"admin"`},
	"Membership.Mapped":    {snapshot.FeatureUsers, `"mapped":true`},
	"Membership.CreatedAt": {snapshot.FeatureUsers, "2007-01-01T00:00:00Z"},

	"Consent.ClientID":  {snapshot.FeatureConsents, "cli_consented"},
	"Consent.Scope":     {snapshot.FeatureConsents, "co:scope"},
	"Consent.CreatedAt": {snapshot.FeatureConsents, "2008-01-01T00:00:00Z"},
	"Consent.UpdatedAt": {snapshot.FeatureConsents, "2009-01-01T00:00:00Z"},

	"AppClient.Settings":                  {snapshot.FeatureHostedLogin, "https://rd.example/back"},
	"ClientSettings.RedirectURIs":         {snapshot.FeatureRedirects, "https://rd.example/back"},
	"ClientSettings.LogoutURIs":           {snapshot.FeatureRedirects, "https://lo.example/out"},
	"ClientSettings.BackchannelLogoutURI": {snapshot.FeatureHostedLogin, "https://bc.example/told"},
	"ClientSettings.APIScopes":            {snapshot.FeatureHostedLogin, "as:scope"},
	"ClientSettings.GrantTypes":           {snapshot.FeatureHostedLogin, "gt-grant"},
	"ClientSettings.SecretHash":           {snapshot.FeatureHostedLogin, hexOf("client secret")},
	"ClientSettings.PKCE":                 {snapshot.FeatureHostedLogin, `"pkce": "cs-pkce"`},
	"ClientSettings.AccessFor":            {snapshot.FeatureHostedLogin, `"access_token_seconds": 1357`},
	"ClientSettings.RefreshFor":           {snapshot.FeatureHostedLogin, `"refresh_token_seconds": 2468`},
	"ClientSettings.Algorithm":            {snapshot.FeatureHostedLogin, "cs-algorithm"},
	"ClientSettings.Title":                {snapshot.FeatureBranding, "Cs Title"},
	"ClientSettings.Welcome":              {snapshot.FeatureBranding, "Cs Welcome"},
	"ClientSettings.LogoURL":              {snapshot.FeatureBranding, "https://logo.example/cs"},
	"ClientSettings.Color":                {snapshot.FeatureBranding, "#c51c51"},
	"ClientSettings.CreatedAt":            {snapshot.FeatureHostedLogin, "2010-01-01T00:00:00Z"},

	"Provider.Settings":                     {snapshot.FeatureProvider, "ps-audience"},
	"ProviderSettings.Managed":              {snapshot.FeatureProvider, `"managed": true`},
	"ProviderSettings.HasSecret":            {snapshot.FeatureProvider, `"has_client_secret": true`},
	"ProviderSettings.Scopes":               {snapshot.FeatureProvider, "ps:scope"},
	"ProviderSettings.Label":                {snapshot.FeatureProvider, "Ps Label"},
	"ProviderSettings.Audience":             {snapshot.FeatureProvider, "ps-audience"},
	"ProviderSettings.ResponseMode":         {snapshot.FeatureProvider, "ps-mode"},
	"ProviderSettings.AuthoritativeDomains": {snapshot.FeatureProvider, "ps-domain.example"},
	"ProviderSettings.SignInDomains":        {snapshot.FeatureProvider, "ps-sign-in.example"},
	"ProviderSettings.Endpoints":            {snapshot.FeatureProvider, "https://pe.example/auth"},
	"ProviderSettings.Mappings":             {snapshot.FeatureGroupMapping, "gm-claim"},
	"ProviderSettings.CreatedAt":            {snapshot.FeatureProvider, "2011-01-01T00:00:00Z"},

	"GroupMapping.Claim": {snapshot.FeatureGroupMapping, "gm-claim"},
	"GroupMapping.Value": {snapshot.FeatureGroupMapping, "gm-value"},
	"GroupMapping.Match": {snapshot.FeatureGroupMapping, "gm-match"},
	"GroupMapping.Group": {snapshot.FeatureGroupMapping, "gm-group"},

	"Project.Webhooks": {snapshot.FeatureWebhook, "whk_full"},
	"Webhook.ID":       {snapshot.FeatureWebhook, "whk_full"},
	"Webhook.Host":     {snapshot.FeatureWebhook, "wh.example"},
	"Webhook.Events":   {snapshot.FeatureWebhook, "wh.event"},
	"Webhook.Enabled":  {snapshot.FeatureWebhook, `"enabled": true`},

	"Key.ID":          {snapshot.FeatureKey, "key_full"},
	"Key.ProjectID":   {snapshot.FeatureKey, sample.ProjectID},
	"Key.Owner":       {snapshot.FeatureKey, "k-owner"},
	"Key.KeyType":     {snapshot.FeatureKey, "ktname"},
	"Key.Scopes":      {snapshot.FeatureKey, "k:scope"},
	"Key.TenantID":    {snapshot.FeatureKey, "tnt_full"},
	"Key.Tenant":      {snapshot.FeatureKey, "te-name"},
	"Key.ProductID":   {snapshot.FeatureProduct, `"product_id":"prd_full"`},
	"Key.Limits":      {snapshot.FeatureLimits, `"month":71005`},
	"Key.AllowedIPs":  {snapshot.FeatureKeyIPs, "198.51.100.0/25"},
	"Key.Environment": {snapshot.FeatureKey, "en-name"},
	"Key.Description": {snapshot.FeatureKey, "k description"},
	"Key.State":       {snapshot.FeatureKey, "frozen"},
	"Key.OwnerFrozen": {snapshot.FeatureKey, `"owner_frozen":true`},
	"Key.Hash":        {snapshot.FeatureKey, hexOf("now")},
	"Key.OldHash":     {snapshot.FeatureKeyGrace, hexOf("before")},
	"Key.GraceEndsAt": {snapshot.FeatureKeyGrace, "2024-01-01T00:00:00Z"},
	"Key.ExpiresAt":   {snapshot.FeatureKey, "2025-01-01T00:00:00Z"},
	"Key.CreatedAt":   {snapshot.FeatureKey, "2020-01-01T00:00:00Z"},
	"Key.Prefix":      {snapshot.FeatureKey, "kpre_en-name_"},
	"Key.Last4":       {snapshot.FeatureKey, "La5t"},

	"Key.Metadata":         {snapshot.FeatureKey, `"metadata":{"m":71006}`},
	"Key.Consumer":         {snapshot.FeatureKey, `{"id":"kept-id","username":"kept name","custom_id":"kept-custom"}`},
	"Key.CredentialID":     {snapshot.FeatureKey, `"credential_id":"kept-credential"`},
	"Project.ImportedKeys": {snapshot.FeatureKey, `"imported_keys": true`},
}

// A new field of the snapshot fails here until it has a feature and a place in the
// export.
func TestFeatures_everyField(t *testing.T) {
	project, key := fullProject()
	in := sampleInput()
	in.Project, in.KeyCount = project, 1
	in.Keys = sample.Stream(map[string]sample.Plain{"full": {Key: key}})
	in.Users = streamUsers(fullUser())
	data, _ := write(t, in)
	if _, err := verify(data); err != nil { // which reads every field back
		t.Errorf("Verify: %v", err)
	}
	_, files := unzip(t, data)
	text := files["project-config.json"] + files["auth/refused.json"] + files["authz/rules.json"] +
		files["transforms.json"] + files["openapi.json"]
	for _, name := range []string{
		"keys/keys.jsonl", "auth/clients.json", "auth/issuers.json", "auth/providers.json", "users/signup.json",
		"users/groups.json", "users/users.jsonl",
	} {
		text += files["tenants/te-name/"+name]
	}
	seen := 0
	for _, of := range []any{
		snapshot.Project{}, snapshot.Version{}, snapshot.Access{}, snapshot.TokenIssuer{}, snapshot.Introspection{},
		snapshot.IPRules{}, snapshot.ProjectLimits{}, snapshot.Environment{}, snapshot.KeyType{}, snapshot.Tenant{},
		snapshot.Key{}, snapshot.UpstreamHeader{}, snapshot.CallSigningKey{}, snapshot.ClientCertificate{},
		snapshot.API{}, snapshot.APIScope{}, snapshot.AppClient{}, snapshot.SigningKey{}, snapshot.Provider{},
		snapshot.BarredUser{}, snapshot.ClientSettings{}, snapshot.ProviderSettings{}, snapshot.GroupMapping{},
		snapshot.Directory{}, snapshot.Approval{}, snapshot.Group{}, snapshot.GroupOwner{}, snapshot.User{},
		snapshot.Identity{},
		snapshot.Membership{}, snapshot.Consent{}, snapshot.Webhook{}, snapshot.Rules{}, snapshot.Rule{},
		snapshot.Transforms{}, snapshot.Changes{}, snapshot.BodyChanges{}, snapshot.ChangeTypes{}, snapshot.Member{},
		snapshot.CORS{}, snapshot.GroupsLeft{}, snapshot.Upstream{}, snapshot.UpstreamTimeouts{},
		snapshot.UpstreamRetries{}, snapshot.UpstreamTarget{}, snapshot.UpstreamChecks{}, snapshot.UpstreamBreaker{},
		snapshot.UpstreamCA{}, snapshot.Domain{},
	} {
		kind := reflect.TypeOf(of)
		for _, field := range reflect.VisibleFields(kind) {
			fromContract := strings.HasSuffix(kind.Field(field.Index[0]).Type.PkgPath(), "core/contract")
			if len(field.Index) > 1 != (fromContract && kind.Field(field.Index[0]).Anonymous) {
				continue // in a value that is embedded, the members count; in other types, the fields
			}
			name := kind.Name() + "." + field.Name
			want, ok := fields[name]
			switch name {
			case "Project.TakenDown", "Project.Deleted", "Project.TeamID",
				"Project.FormerTeam": // of this installation, not exported
				continue
			case "Project.DataKeys", "UpstreamHeader.Sealed", "CallSigningKey.Sealed",
				"ClientCertificate.Sealed": // secrets, not exported
				continue
			case "Version.Routes": // follows from Version.OpenAPI
				continue
			case "Environment.Former": // for a moment of a rename, on the gateway that serves it
				continue
			case "Project.Users": // follows from User.Memberships
				continue
			case "Key.FoundIn", "Key.FoundFor": // says nothing of the key
				continue
			}
			switch {
			case !ok:
				t.Errorf("%s belongs to no feature", name)
			case !slices.Contains(snapshot.Features(), want.feature):
				t.Errorf("%s belongs to %s, which is not a feature", name, want.feature)
			case !strings.Contains(text, want.text):
				t.Errorf("%s: %q is nowhere in the export", name, want.text)
			}
			seen++
		}
	}
	if seen != len(fields) {
		t.Errorf("%d fields, but %d are listed here: one was removed", seen, len(fields))
	}
}

// A reason that the target's table does not have fails the export.
func TestLedger_undeclaredFate(t *testing.T) {
	for name, target := range map[string]bundle.Target{
		"reason": {Name: "odd", Format: bundle.FormatData, Table: bundle.Data.Table,
			Judge: func(*bundle.Build, bundle.Subject) bundle.Verdict { return bundle.Verdict{Reason: "made_up"} }},
		"feature": {Name: "odd", Format: bundle.FormatData, Table: bundle.Table{}},
	} {
		in := sampleInput()
		in.Target = target
		if _, err := bundle.Write(t.Context(), failing{nil}, in); err == nil ||
			!strings.Contains(err.Error(), "declares no fate") {
			t.Errorf("undeclared %s: %v", name, err)
		}
	}
}
