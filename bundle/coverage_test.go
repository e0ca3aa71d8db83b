package bundle_test

import (
	"encoding/hex"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/core/policy"
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

	"Project.ProductID": {snapshot.FeatureProduct, "prd_full"},
	"Project.Product":   {snapshot.FeatureProduct, "pd-name"},
	"Project.Limits":    {snapshot.FeatureLimits, `"hour": 71001`},

	"Project.API":          {snapshot.FeatureAPIScope, "https://ap.example"},
	"API.Audience":         {snapshot.FeatureAPIScope, `"audience": "https://ap.example"`},
	"API.Scopes":           {snapshot.FeatureAPIScope, "ap:scope"},
	"APIScope.Name":        {snapshot.FeatureAPIScope, `"name": "ap:scope"`},
	"APIScope.Description": {snapshot.FeatureAPIScope, `"description": "ap description"`},

	"Project.CallSigningKeys":       {snapshot.FeatureCallSigning, `"call_signing"`},
	"CallSigningKey.ID":             {snapshot.FeatureCallSigning, `"id": "cs-thumbprint"`},
	"CallSigningKey.Public":         {snapshot.FeatureCallSigning, `"public_key": "Y3MtcHVibGlj"`},
	"CallSigningKey.SignsFrom":      {snapshot.FeatureCallSigning, `"signs_from": "2026-01-01T00:00:00Z"`},
	"CallSigningKey.PublishedUntil": {snapshot.FeatureCallSigning, `"published_until": "2027-01-01T00:00:00Z"`},

	"Project.Clients":        {snapshot.FeatureHostedLogin, `"id": "cli_full"`},
	"Project.Barred":         {snapshot.FeatureHostedLogin, `"id": "usr_full"`},
	"Project.EndedSessions":  {snapshot.FeatureLoginSessions, "ses_full"},
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
	"Provider.AppID":         {snapshot.FeatureProvider, `"app_id": "pv-app"`},
	"Provider.Issuer":        {snapshot.FeatureProvider, `"issuer": "https://pv.example"`},
	"Provider.Enabled":       {snapshot.FeatureProvider, `"enabled": true`},
	"Provider.TokenClient":   {snapshot.FeatureProvider, `"token_client": "provider"`},
	"Provider.TokenUpstream": {snapshot.FeatureProvider, `"token_upstream": "provider_id_token"`},

	"ProjectLimits.Key":     {snapshot.FeatureLimits, `"second": 71000`},
	"ProjectLimits.Owner":   {snapshot.FeatureLimits, `"hour": 71001`},
	"ProjectLimits.IP":      {snapshot.FeatureLimits, `"day": 71002`},
	"ProjectLimits.Project": {snapshot.FeatureLimits, `"year": 71003`},

	"IPRules.Allow": {snapshot.FeatureIPRules, "192.0.2.0/24"},
	"IPRules.Deny":  {snapshot.FeatureIPRules, "2001:db8::/32"},

	"Version.ID":           {snapshot.FeatureVersion, "ver_full"},
	"Version.Name":         {snapshot.FeatureVersion, "7.8.9-vname"},
	"Version.Access":       {snapshot.FeatureAccess, "owner_fallback"},
	"Version.Environments": {snapshot.FeatureEnvironment, "env_full"},

	"Access.Mode":    {snapshot.FeatureAccess, "authenticate"},
	"Access.Methods": {snapshot.FeatureAccess, "api_key"},
	"Access.Keyless": {snapshot.FeatureAccess, "owner_fallback"},

	"Access.Issuers":       {snapshot.FeatureTokenIssuer, "https://ti.example/"},
	"TokenIssuer.Issuer":   {snapshot.FeatureTokenIssuer, `"iss": "https://ti.example/"`},
	"TokenIssuer.Audience": {snapshot.FeatureTokenIssuer, `"aud": "ti-audience"`},
	"TokenIssuer.JWKSURL":  {snapshot.FeatureTokenIssuer, `"jwks_url": "https://ti.example/keys"`},
	"TokenIssuer.Tenant":   {snapshot.FeatureTokenIssuer, `"tenant": "ti-tenant"`},

	"Access.Opaque":           {snapshot.FeatureIntrospection, "https://in.example/introspect"},
	"Introspection.Endpoint":  {snapshot.FeatureIntrospection, `"endpoint": "https://in.example/introspect"`},
	"Introspection.Method":    {snapshot.FeatureIntrospection, `"method": "client_secret_post"`},
	"Introspection.ClientID":  {snapshot.FeatureIntrospection, `"client_id": "in-client"`},
	"Introspection.HasSecret": {snapshot.FeatureIntrospection, `"has_secret": true`},
	"Introspection.Issuer":    {snapshot.FeatureIntrospection, `"iss": "https://in.example"`},
	"Introspection.Audience":  {snapshot.FeatureIntrospection, `"aud": "in-audience"`},

	"Access.IP": {snapshot.FeatureIPRules, "192.0.2.0/24"},

	"Environment.ID":     {snapshot.FeatureEnvironment, "env_full"},
	"Environment.Name":   {snapshot.FeatureRoute, "en-name"},
	"Environment.Target": {snapshot.FeatureEnvironment, "http://en.example/target"},
	"Environment.Hosts":  {snapshot.FeatureCustomDomains, "own.en.example"},

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
}

func hexOf(s string) string {
	sum := policy.HashKey(s)
	return hex.EncodeToString(sum[:])
}

func ranges(one string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(one)} }

func year(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }

func fullIntrospection() snapshot.Introspection {
	return snapshot.Introspection{
		Endpoint:  "https://in.example/introspect",
		Method:    snapshot.SecretPost,
		ClientID:  "in-client",
		HasSecret: true,
		Issuer:    "https://in.example",
		Audience:  "in-audience",
	}
}

// fullProject sets every field to something that can be found again.
func fullProject() (*snapshot.Project, snapshot.Key) {
	project := &snapshot.Project{
		ID: sample.ProjectID, Name: "pr-name", DisplayName: "Pr Display", FallbackOwner: "pr-fallback",
		CreatedAt: year(2021), ExpiresAt: year(2022), Revision: 987654, RevisedAt: year(2023),
		ProductID: "prd_full", Product: "pd-name",
		Limits: snapshot.ProjectLimits{
			Key:     snapshot.Limits{snapshot.Second: 71000},
			Owner:   snapshot.Limits{snapshot.Hour: 71001},
			IP:      snapshot.Limits{snapshot.Day: 71002},
			Project: snapshot.Limits{snapshot.Year: 71003},
		},
		API: snapshot.API{
			Audience: "https://ap.example",
			Scopes:   []snapshot.APIScope{{Name: "ap:scope", Description: "ap description"}},
		},
		CallSigningKeys: []snapshot.CallSigningKey{{
			ID:             "cs-thumbprint",
			Public:         []byte("cs-public"),
			Sealed:         []byte("sealed-value"),
			SignsFrom:      year(2026),
			PublishedUntil: year(2027),
		}},
		Clients:       []snapshot.AppClient{fullClient()},
		Barred:        []snapshot.BarredUser{{ID: "usr_full", Deleted: true}},
		EndedSessions: []string{"ses_full"},
		KeyTypes: []snapshot.KeyType{{
			ID:        "kty_full",
			Name:      "ktname",
			Scopes:    []string{"kt:scope"},
			ExpiresIn: 13579 * time.Second,
			Limits:    snapshot.Limits{snapshot.Minute: 71004},
			BuiltIn:   true,
		}},
		Tenants: []snapshot.Tenant{{ID: "tnt_full", Name: "te-name", FallbackOwner: "te-fallback", Detached: true}},
		Versions: []snapshot.Version{{
			ID: "ver_full", Name: "7.8.9-vname",
			Access: snapshot.Access{
				Mode:    snapshot.Authenticate,
				Methods: []snapshot.Method{snapshot.APIKey, snapshot.JWT},
				Keyless: snapshot.OwnerFallback,
				Issuers: []snapshot.TokenIssuer{{
					Issuer:   "https://ti.example/",
					Audience: "ti-audience",
					JWKSURL:  "https://ti.example/keys",
					Tenant:   "ti-tenant",
				}},
				Opaque: fullIntrospection(),
				IP:     snapshot.IPRules{Allow: ranges("192.0.2.0/24"), Deny: ranges("2001:db8::/32")},
			},
			Environments: []snapshot.Environment{{
				ID:          "env_full",
				Name:        "en-name",
				Target:      "http://en.example/target",
				Hosts:       []string{"own.en.example"},
				Headers:     []snapshot.UpstreamHeader{{Name: "X-En-Header", Sealed: []byte("sealed-value")}},
				Certificate: &snapshot.ClientCertificate{Chain: "en-chain", Sealed: []byte("sealed-value")},
			}},
		}},
	}
	return project, fullKey()
}

func fullClient() snapshot.AppClient {
	return snapshot.AppClient{
		ID:       "cli_full",
		Name:     "ac-name",
		Issuer:   "https://ac.example/oauth/cli_full",
		TenantID: "tnt_full",
		Keys: []snapshot.SigningKey{{
			ID:        "sig_full",
			Algorithm: "sk-alg",
			JWK:       `{"kty":"sk-jwk"}`,
			ExpiresAt: year(2028),
		}},
		Providers: []snapshot.Provider{{
			ID:            "idp_full",
			Type:          "oidc",
			AppID:         "pv-app",
			Issuer:        "https://pv.example",
			Enabled:       true,
			TokenClient:   snapshot.ProviderToken,
			TokenUpstream: snapshot.ProviderIDToken,
		}},
		Machine: true,
		Frozen:  true,
	}
}

func fullKey() snapshot.Key {
	old := policy.HashKey("before")
	return snapshot.Key{
		ID:          "key_full",
		ProjectID:   sample.ProjectID,
		Owner:       "k-owner",
		KeyType:     "ktname",
		Scopes:      []string{"k:scope"},
		TenantID:    "tnt_full",
		Tenant:      "te-name",
		Environment: "en-name",
		Description: "k description",
		ProductID:   "prd_full",
		Limits:      &snapshot.Limits{snapshot.Month: 71005},
		AllowedIPs:  ranges("198.51.100.0/25"),
		State:       snapshot.KeyFrozen,
		OwnerFrozen: true,
		Hash:        policy.HashKey("now"),
		OldHash:     &old,
		GraceEndsAt: year(2024),
		ExpiresAt:   year(2025),
		CreatedAt:   year(2020),
		Prefix:      "kpre_en-name_",
		Last4:       "La5t",
	}
}

// A new field of the snapshot fails here until it has a feature and a place in the
// export.
func TestEveryFieldOfTheSnapshotIsExported(t *testing.T) {
	project, key := fullProject()
	in := sampleInput()
	in.Project, in.KeyCount = project, 1
	in.Keys = sample.Stream(map[string]sample.Plain{"full": {Key: key}})
	data, _ := write(t, in)
	if _, err := verify(data); err != nil { // which reads every field back
		t.Errorf("Verify: %v", err)
	}
	_, files := unzip(t, data)
	text := files["project-config.json"] + files["tenants/te-name/keys/keys.jsonl"] +
		files["tenants/te-name/auth/issuers.json"] + files["tenants/te-name/auth/providers.json"] + files["auth/refused.json"]
	seen := 0
	for _, of := range []any{
		snapshot.Project{}, snapshot.Version{}, snapshot.Access{}, snapshot.TokenIssuer{}, snapshot.Introspection{},
		snapshot.IPRules{}, snapshot.ProjectLimits{}, snapshot.Environment{}, snapshot.KeyType{}, snapshot.Tenant{},
		snapshot.Key{}, snapshot.UpstreamHeader{}, snapshot.CallSigningKey{}, snapshot.ClientCertificate{},
		snapshot.API{}, snapshot.APIScope{}, snapshot.AppClient{}, snapshot.SigningKey{}, snapshot.Provider{},
		snapshot.BarredUser{},
	} {
		kind := reflect.TypeOf(of)
		for i := range kind.NumField() {
			name := kind.Name() + "." + kind.Field(i).Name
			want, ok := fields[name]
			switch name {
			case "Project.TakenDown", "Project.Deleted": // measures of this installation, not exported
				continue
			case "Project.DataKeys", "UpstreamHeader.Sealed", "CallSigningKey.Sealed",
				"ClientCertificate.Sealed": // secrets, not exported
				continue
			case "Project.GroupMappings": // what becomes of them is in the ledger
				continue
			case "Environment.Former": // for a moment of a rename, on the gateway that serves it
				continue
			case "Key.FoundIn": // says nothing of the key
				continue
			}
			switch {
			case !ok:
				t.Errorf("%s belongs to no feature", name)
			case !slices.Contains(snapshot.Features(), want.feature):
				t.Errorf("%s belongs to %s, which is no feature", name, want.feature)
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
func TestLedgerRefusesAnUndeclaredFate(t *testing.T) {
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
