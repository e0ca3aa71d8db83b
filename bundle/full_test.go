package bundle_test

import (
	"context"
	"encoding/hex"
	"iter"
	"net/netip"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

func hexOf(s string) string {
	sum := policy.HashKey(s)
	return hex.EncodeToString(sum[:])
}

func streamUsers(users ...snapshot.User) func(context.Context, snapshot.Tenant) iter.Seq2[snapshot.User, error] {
	return func(context.Context, snapshot.Tenant) iter.Seq2[snapshot.User, error] {
		return func(yield func(snapshot.User, error) bool) {
			for _, u := range users {
				if !yield(u, nil) {
					return
				}
			}
		}
	}
}

func ranges(one string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(one)} }

func year(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }

func fullIntrospection() snapshot.Introspection {
	return snapshot.Introspection{
		Introspection: contract.Introspection{
			Endpoint: "https://in.example/introspect",
			Method:   snapshot.SecretPost,
			ClientID: "in-client",
			Issuer:   "https://in.example",
			Audience: "in-audience",
		},
		HasSecret: true,
	}
}

// fullProject sets every field to something that can be found again.
func fullProject() (*snapshot.Project, snapshot.Key) {
	project := &snapshot.Project{
		ImportedKeys: true,
		ID:           sample.ProjectID, Name: "pr-name", DisplayName: "Pr Display", FallbackOwner: "pr-fallback",
		CreatedAt: year(2021), ExpiresAt: year(2022), Revision: 987654, RevisedAt: year(2023),
		ProductID: "prd_full", Product: "pd-name", ProductTitle: "Pd Display",
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
		CORS: &snapshot.CORS{
			CORS: contract.CORS{
				Origins:        []string{"https://co.example"},
				AppOrigins:     true,
				Methods:        []string{"PATCH"},
				Headers:        []string{"Co-Header"},
				ExposedHeaders: []string{"Co-Exposed"},
				Credentials:    true,
				MaxAge:         new(77007),
			},
			FromApps: []string{"https://fa.example"},
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
		GroupsLeft:    []snapshot.GroupsLeft{{User: "usr_left", At: 1_700_000_001}},
		KeyTypes: []snapshot.KeyType{{
			ID:        "kty_full",
			Name:      "ktname",
			Scopes:    []string{"kt:scope"},
			ExpiresIn: 13579 * time.Second,
			Limits:    snapshot.Limits{snapshot.Minute: 71004},
			BuiltIn:   true,
		}},
		Tenants: []snapshot.Tenant{{
			ID:            "tnt_full",
			Name:          "te-name",
			DisplayName:   "Te Display",
			FallbackOwner: "te-fallback",
			CORS: &snapshot.CORS{
				CORS: contract.CORS{Origins: []string{"https://tc.example"}, Methods: []string{"PATCH"}},
			},
			Detached:  true,
			Directory: fullDirectory(),
		}},
		Webhooks: []snapshot.Webhook{{ID: "whk_full", Host: "wh.example", Events: []string{"wh.event"}, Enabled: true}},
		Members: []snapshot.Member{{
			User:     "usr_member",
			TenantID: "me-tenant",
			In:       []string{"me-group"},
			Admin:    []string{"me-admin"},
		}},
		Versions: []snapshot.Version{{
			ID: "ver_full", Name: "7.8.9-vname",
			OpenAPI:     []byte(`{"openapi":"3.1.0","info":{"title":"OA-title","version":"1"},"paths":{}}`),
			Validation:  snapshot.ValidationEnforce,
			Publication: snapshot.PublicationCallers,
			Transforms: snapshot.Transforms{
				Request: snapshot.Changes{
					Remove:  []string{"Tr-Remove"},
					Rename:  []string{"Tr-Rename:Tr-Renamed"},
					Replace: []string{"Tr-Replace:replaced"},
					Add:     []string{"Tr-Add:added"},
					Append:  []string{"Tr-Append:appended"},
				},
				Query:       snapshot.Changes{Add: []string{"tr-query:1"}},
				RequestBody: snapshot.Changes{Add: []string{"tr-body:1"}},
				Response:    snapshot.Changes{Remove: []string{"Tr-Response"}},
				ResponseBody: snapshot.BodyChanges{
					Changes: snapshot.Changes{
						Replace: []string{"tr-member:1"},
						Add:     []string{"tr-added:true"},
						Append:  []string{"tr-appended:2"},
					},
					Types: snapshot.ChangeTypes{
						Replace: []string{snapshot.JSONNumber},
						Add:     []string{snapshot.JSONBoolean},
						Append:  []string{snapshot.JSONNumber},
					},
				},
			},
			Rules: snapshot.Rules{
				Default:         snapshot.RulesDeny,
				Mode:            snapshot.RulesShadow,
				ReadWriteScopes: true,
				List: []snapshot.Rule{{
					ID:      "rul_full",
					Methods: []string{"RU-METHOD"},
					Path:    "/ru/{path}",
					Scopes:  []string{"ru:scope"},
					Groups:  []string{"ru-group"},
					Role:    snapshot.RoleAdmin,
					Mode:    snapshot.RulesEnforce,

					Owner:    "ru-owner:{path}",
					Remember: "ru-remember:{response.id}",
					Forget:   "ru-forget:{path}",
				}},
			},
			Access: snapshot.Access{
				RequestsAuth: snapshot.RequestsAuth{
					Mode:    snapshot.Authenticate,
					Methods: []string{snapshot.APIKey, snapshot.JWT},
					Keyless: snapshot.OwnerFallback,
					APIKey:  snapshot.APIKeyAuth{In: []snapshot.KeyPlace{{Header: "X-Full-Key"}}},
					JWT: &snapshot.AllowedPairs{AllowedPairs: []snapshot.TokenIssuer{{
						Issuer:   "https://ti.example/",
						Audience: "ti-audience",
						JWKSURL:  "https://ti.example/keys",
						Tenant:   "ti-tenant",
					}}},
					Opaque: new(fullIntrospection()),
				},
				IP: snapshot.IPRules{Allow: ranges("192.0.2.0/24"), Deny: ranges("2001:db8::/32")},
			},
			Environments: []snapshot.Environment{{
				ID:     "env_full",
				Name:   "en-name",
				Target: "http://en.example/target",
				Domains: []snapshot.Domain{{DomainAddress: contract.DomainAddress{
					Host: "own.en.example", PathPrefix: "/own-prefix", StripPrefix: true,
					Methods: []string{"OWNMETHOD"},
				}, Shared: true}},
				Headers:     []snapshot.UpstreamHeader{{Name: "X-En-Header", Sealed: []byte("sealed-value")}},
				Certificate: &snapshot.ClientCertificate{Chain: "en-chain", Sealed: []byte("sealed-value")},
				Upstream: snapshot.Upstream{Timeouts: snapshot.UpstreamTimeouts{
					ConnectMS: new(61001), ResponseMS: new(61002), IdleMS: new(61003), StreamIdleMS: new(61004),
					ReuseIdleMS: new(61005),
				}, Retries: snapshot.UpstreamRetries{
					Max: new(61006), On: &[]snapshot.RetryCondition{"61007", "timeout"},
				}, UpstreamTargets: snapshot.UpstreamTargets{
					Targets: []snapshot.UpstreamTarget{
						{URL: "http://en.example/target", Weight: new(61010)}, {URL: "http://en-2.example/target"},
					},
					Balance: new(snapshot.HashHeader + "X-En-Hash"),
				}, Checks: snapshot.UpstreamChecks{
					Path: new("/en-check"), IntervalMS: new(61020), TimeoutMS: new(61021), Healthy: new(22),
					Unhealthy: new(23),
					Statuses:  []snapshot.StatusRange{"230-231"}, PassiveFailures: new(624),
				}, Breaker: snapshot.UpstreamBreaker{
					Failures: new(631), WindowMS: new(61032), OpenMS: new(61033),
				},
					CA:         snapshot.UpstreamCA{PEM: new(sample.CA), System: new(false)},
					ServerName: new("sn.internal"), HostHeader: new("hh.internal"),
				},
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
			ClientID:      "pv-app",
			Issuer:        "https://pv.example",
			Enabled:       true,
			ClientToken:   snapshot.ProviderToken,
			UpstreamToken: snapshot.ProviderIDToken,
			Settings:      fullProviderSettings(),
		}},
		Machine:  true,
		Frozen:   true,
		Settings: fullClientSettings(),
	}
}

func fullClientSettings() *snapshot.ClientSettings {
	secret := policy.HashKey("client secret")
	return &snapshot.ClientSettings{
		RedirectURIs:         []string{"https://rd.example/back"},
		LogoutURIs:           []string{"https://lo.example/out"},
		BackchannelLogoutURI: "https://bc.example/told",
		APIScopes:            []string{"as:scope"},
		GrantTypes:           []string{"gt-grant"},
		SecretHash:           secret[:],
		PKCE:                 "cs-pkce",
		AccessFor:            1357 * time.Second,
		RefreshFor:           2468 * time.Second,
		Algorithm:            "cs-algorithm",
		CreatedAt:            year(2010),
		Branding: contract.Branding{
			Title: "Cs Title", Welcome: "Cs Welcome", LogoURL: "https://logo.example/cs", Color: "#c51c51",
		},
	}
}

func fullProviderSettings() *snapshot.ProviderSettings {
	return &snapshot.ProviderSettings{
		Managed:   true,
		HasSecret: true,
		Scopes:    []string{"ps:scope"},
		Label:     "Ps Label",
		Endpoints: &snapshot.ProviderEndpoints{
			Authorization: "https://pe.example/auth",
			Token:         "https://pe.example/token",
			JWKS:          "https://pe.example/keys",
			UserInfo:      "https://pe.example/me",
			EndSession:    "https://pe.example/out",
		},
		Audience:             "ps-audience",
		ResponseMode:         "ps-mode",
		AuthoritativeDomains: []string{"ps-domain.example"},
		SignInDomains:        []string{"ps-sign-in.example"},
		Mappings: []snapshot.GroupMapping{
			{Claim: "gm-claim", Value: "gm-value", Match: "gm-match", Group: "gm-group"},
		},
		CreatedAt: year(2011),
	}
}

func fullDirectory() *snapshot.Directory {
	return &snapshot.Directory{
		InviteOnly: true,
		Approvals: []snapshot.Approval{{
			ID:        "apr_full",
			Kind:      "domain",
			Value:     "ap.example",
			Groups:    []string{"grp_ap"},
			CreatedAt: year(2001),
		}},
		Groups: []snapshot.Group{{
			ID:          "grp_full",
			Name:        "gr-name",
			DisplayName: "Gr Display",
			ExternalID:  "gr-external",
			Parents:     []string{"grp_parent"},
			Owners:      []snapshot.GroupOwner{{Owner: "gr-app", Role: "admin", CreatedAt: year(2008)}},
			CreatedAt:   year(2002),
			UpdatedAt:   year(2003),
		}},
		Users:    1,
		Consents: 1,
	}
}

func fullUser() snapshot.User {
	return snapshot.User{
		ID:            "usr_person",
		Email:         "us@mail.example",
		EmailVerified: true,
		Name:          "Us Name",
		Profile:       `{"nickname":"usnick","updated_at":1700000000}`,
		UserName:      "us-user-name",
		ExternalID:    "us-external",
		State:         "frozen",
		CreatedAt:     year(2004),
		UpdatedAt:     year(2005),
		Identities: []snapshot.Identity{
			{Issuer: "id-issuer", Subject: "id-subject", ProviderID: "idp_first", CreatedAt: year(2006)},
		},
		Memberships: []snapshot.Membership{{GroupID: "grp_full", Role: "admin", Mapped: true, CreatedAt: year(2007)}},
		Consents: []snapshot.Consent{
			{ClientID: "cli_consented", Scope: "co:scope", CreatedAt: year(2008), UpdatedAt: year(2009)},
		},
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
		ProductID:   "prd_full",
		Limits:      &snapshot.Limits{snapshot.Month: 71005},
		AllowedIPs:  ranges("198.51.100.0/25"),
		State:       snapshot.KeyFrozen,
		OwnerFrozen: true,
		Hash:        policy.HashKey("now"),
		OldHash:     &old,
		GraceEndsAt: year(2024),
		ExpiresAt:   year(2025),
		KeyDetails: contract.KeyDetails{
			Description: "k description", Prefix: "kpre_en-name_", Last4: "La5t", CreatedAt: year(2020),
		},
		KeyIdentity: contract.KeyIdentity{
			Metadata:     `{"m":71006}`,
			Consumer:     &contract.Consumer{ID: "kept-id", Username: "kept name", CustomID: "kept-custom"},
			CredentialID: new("kept-credential"),
		},
	}
}
