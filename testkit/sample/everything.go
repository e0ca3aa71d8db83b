package sample

import (
	"context"
	"crypto/ed25519"
	"iter"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
)

// Everything is the sample project with every feature that a project in use can have. No one has claimed it, so that
// it has the caps of such a project too, and it is in the trash. Its keys are those of Keys.
func Everything() (
	p *snapshot.Project, users func(context.Context, snapshot.Tenant) iter.Seq2[snapshot.User, error],
	relations func(context.Context) iter.Seq2[snapshot.Relation, error],
) {
	p = Project("https://up.example:8443")
	users = People(p)
	p.ProductTitle = "The Suite"
	p.Deleted, p.ExpiresAt = true, Future
	p.CORS = &snapshot.CORS{
		CORS: contract.CORS{
			Origins:        []string{"https://app.example"},
			AppOrigins:     true,
			Methods:        []string{"GET", "POST"},
			Headers:        []string{"Content-Type"},
			ExposedHeaders: []string{"X-Total"},
			Credentials:    true,
			MaxAge:         new(600),
		},
	}
	p.Tenants[0].CORS = &snapshot.CORS{
		CORS: contract.CORS{Origins: []string{"https://acme.example"}, Methods: []string{"GET"}},
	}
	p.CallSigningKeys = []snapshot.CallSigningKey{{
		ID: "signing-key-1", Public: signer.Public().(ed25519.PublicKey), SignsFrom: Base, PublishedUntil: Future,
	}}
	p.Webhooks = []snapshot.Webhook{
		{ID: "whk_1", Host: "hooks.shop.example", Events: []string{"key.created"}, Enabled: true},
	}
	p.Barred = []snapshot.BarredUser{{ID: "usr_a01"}, {ID: "usr_gone", Deleted: true}}
	p.EndedSessions = []string{"ses_1"}
	p.GroupsLeft = []snapshot.GroupsLeft{{User: "usr_a02", At: Base.Unix()}}
	p.Members = []snapshot.Member{
		{User: "billing service", TenantID: "tnt_1", In: []string{"outer"}},
		{User: "billing service", TenantID: "tnt_2", In: []string{"outer"}},
		{User: "usr_a00", TenantID: "tnt_1", In: []string{"inner", "outer"}},
	}
	p.Versions = append(p.Versions, everyVersion())
	return p, users, func(context.Context) iter.Seq2[snapshot.Relation, error] {
		return func(yield func(snapshot.Relation, error) bool) {
			_ = yield(relation("ana", "order:42"), nil) && yield(relation("usr_a00", "order:43"), nil)
		}
	}
}

func relation(user, object string) snapshot.Relation {
	return snapshot.Relation{TenantID: "tnt_1", Tenant: "default", User: user, Relation: "owner", Object: object}
}

// everyVersion is a version with all of its settings.
func everyVersion() snapshot.Version {
	return snapshot.Version{
		ID: "ver_7", Name: "everything",
		OpenAPI: []byte(`{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"paths":{"/orders/{id}":{"get":{` +
			`"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],` +
			`"responses":{"200":{"description":"An order"}}}}}}`),
		Validation:  snapshot.ValidationEnforce,
		Publication: snapshot.PublicationCallers,
		Transforms: snapshot.Transforms{
			Request:     snapshot.Changes{Remove: []string{"X-Debug"}, Add: []string{"X-Source: shop"}},
			Query:       snapshot.Changes{Rename: []string{"page:p"}},
			RequestBody: snapshot.Changes{Replace: []string{"currency:EUR"}},
			Response:    snapshot.Changes{Append: []string{"X-Served-By: shop"}},
			ResponseBody: snapshot.BodyChanges{
				Changes: snapshot.Changes{Add: []string{"total:2"}},
				Types:   snapshot.ChangeTypes{Add: []string{snapshot.JSONNumber}},
			},
		},
		Rules: snapshot.Rules{Default: snapshot.RulesDeny, ReadWriteScopes: true, List: []snapshot.Rule{
			{ID: "rul_1", Methods: []string{"GET"}, Path: "/orders/{id}", Scopes: []string{"orders:read"},
				Owner: "order:{id}"},
			{ID: "rul_2", Methods: []string{"POST"}, Path: "/orders", Groups: []string{"outer"},
				Role: snapshot.RoleMember, Remember: "order:{response.id}"},
			{ID: "rul_3", Methods: []string{"DELETE"}, Path: "/orders/{id}", Mode: snapshot.RulesShadow,
				Forget: "order:{id}"},
		}},
		Access: snapshot.Access{
			RequestsAuth: snapshot.RequestsAuth{
				Mode:    snapshot.Authenticate,
				Methods: []string{snapshot.APIKey, snapshot.JWT, snapshot.Opaque},
				Keyless: snapshot.Reject,
				JWT: &snapshot.AllowedPairs{AllowedPairs: []snapshot.TokenIssuer{
					{Issuer: "https://accounts.example/", Audience: "shop", JWKSURL: "https://accounts.example/keys"},
				}},
				Opaque: &snapshot.Introspection{
					Introspection: contract.Introspection{
						Endpoint: "https://accounts.example/introspect",
						Method:   snapshot.SecretBasic,
						ClientID: "shop",
						Issuer:   "https://accounts.example",
						Audience: "shop",
					},
					HasSecret: true,
				},
			},
			IP: snapshot.IPRules{Deny: ranges("198.51.100.0/24")},
		},
		Environments: []snapshot.Environment{{
			ID: "env_8", Name: "prod", Target: "https://secure.example/v7", Domains: Domains("seven.shop.example"),
			Headers: []snapshot.UpstreamHeader{{Name: "X-Upstream-Token"}},
			Certificate: &snapshot.ClientCertificate{
				Chain: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
			},
			Upstream: snapshot.Upstream{Timeouts: snapshot.UpstreamTimeouts{
				ConnectMS: new(2500), ResponseMS: new(120_000), IdleMS: new(30_000), StreamIdleMS: new(3_600_000),
				ReuseIdleMS: new(1500),
			}, Retries: snapshot.UpstreamRetries{
				Max: new(7), On: &[]snapshot.RetryCondition{"503", "timeout"},
			}, UpstreamTargets: snapshot.UpstreamTargets{
				Targets: []snapshot.UpstreamTarget{
					{URL: "https://secure.example/v7", Weight: new(3)}, {URL: "https://spare.example:8443/v7"},
				},
				Balance: new(snapshot.HashOwner),
			}, Checks: snapshot.UpstreamChecks{
				Path: new("/healthz"), IntervalMS: new(5000), TimeoutMS: new(1000), Healthy: new(3), Unhealthy: new(4),
				Statuses: []snapshot.StatusRange{"200-299", "401"}, PassiveFailures: new(7),
			}, Breaker: snapshot.UpstreamBreaker{
				Failures: new(20), WindowMS: new(30_000), OpenMS: new(15_000),
			},
				CA: snapshot.UpstreamCA{PEM: new(CA), System: new(false)}, ServerName: new("api.internal"),
				HostHeader: new("api.internal"),
			},
		}, {
			ID: "env_9", Name: "streams", Target: "http://streams.example:50051",
			Domains:  Domains("streams.shop.example"),
			Upstream: snapshot.Upstream{HTTP: contract.HTTP2},
		}},
	}
}

// CA is the certificate of a private authority, in PEM.
const CA = `-----BEGIN CERTIFICATE-----
MIIBojCCAUmgAwIBAgIUPivBox2IUBXyWk00MvwY1dlunLYwCgYIKoZIzj0EAwIw
HjEcMBoGA1UEAwwTRXhhbXBsZSBpbnRlcm5hbCBDQTAgFw0yNjExMjgxNDU3MjZa
GA8yMTI2MTEwNDE0NTcyNlowHjEcMBoGA1UEAwwTRXhhbXBsZSBpbnRlcm5hbCBD
QTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMbiGKq8kjk3Do4RW3gVYvSRt5XY
FySMOTRivRJnm7IGh4aMJ1mdYvPT6fAHVqduRZMzlZzs8Asu90DoWUCmBRWjYzBh
MB0GA1UdDgQWBBTJF1eOho/QUPQsM/DCgp7v7jxfDjAfBgNVHSMEGDAWgBTJF1eO
ho/QUPQsM/DCgp7v7jxfDjAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwIC
BDAKBggqhkjOPQQDAgNHADBEAiBySEsrkBJNjmfALF3HKeyJ0XBeIr8P20ILd0Bs
fHX5wgIgbyu1fUSqXsV2W16HZZ0WE6TM4DjJ34hD9K36GZRxVWE=
-----END CERTIFICATE-----
`

var signer = ed25519.NewKeyFromSeed([]byte(strings.Repeat("s", ed25519.SeedSize)))

// Sign signs exports with a key that is the same in every run.
func Sign(sums []byte) ([]byte, error) { return ed25519.Sign(signer, sums), nil }
