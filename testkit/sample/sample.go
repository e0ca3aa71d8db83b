// Package sample is one project with a key of every kind, for the tests of
// whatever reads a snapshot: export targets, gateways, and the comparison of
// the two.
//
// It owns fixed data and no behavior. Times are around Base, so that a test with its own clock decides what has ended;
// keys that must be over or running by the real clock are far away from it on either side.
package sample

import (
	"context"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
)

// Base is when the sample project was last changed.
var Base = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// Moments that are over, and that are not, for as long as this code lives.
var (
	Past   = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	Future = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// ProjectID is the id of the sample project.
const ProjectID = "prj_0000000000sample"

// Domains returns a custom domain for all calls to each of the hosts.
func Domains(hosts ...string) (out []snapshot.Domain) {
	for _, host := range hosts {
		out = append(out, DomainAt(host, ""))
	}
	return out
}

// DomainAt returns a custom domain for the calls to a host that have a path prefix, which is removed, and one of the
// methods if there are any.
func DomainAt(host, prefix string, methods ...string) snapshot.Domain {
	return snapshot.Domain{DomainAddress: contract.DomainAddress{
		Host: host, PathPrefix: prefix, StripPrefix: true, Methods: methods,
	}}
}

// Kept returns the custom domain with a prefix that is not removed.
func Kept(d snapshot.Domain) snapshot.Domain {
	d.StripPrefix = false
	return d
}

// Project has versions of every access policy. Its upstreams are target and
// paths below it.
func Project(target string) *snapshot.Project {
	env := func(id, name, path string) snapshot.Environment {
		return snapshot.Environment{ID: "env_" + id, Name: name, Target: target + path}
	}
	at := func(e snapshot.Environment, hosts ...string) snapshot.Environment {
		e.Domains = Domains(hosts...)
		return e
	}
	version := func(id, name string, access snapshot.Access, envs ...snapshot.Environment) snapshot.Version {
		return snapshot.Version{ID: "ver_" + id, Name: name, Access: access, Environments: envs}
	}
	keys := []string{snapshot.APIKey}
	return &snapshot.Project{
		ID: ProjectID, Name: "shop", DisplayName: "The Shop", FallbackOwner: "fallback-owner",
		CreatedAt: Base.Add(-240 * time.Hour), Revision: 42, RevisedAt: Base,
		ProductID: "prd_1", Product: "suite",
		// So many that no test reaches them, in windows that hardly ever end.
		Limits: snapshot.ProjectLimits{
			Key:     snapshot.Limits{snapshot.Year: 1_000_000},
			Owner:   snapshot.Limits{snapshot.Month: 2_000_000},
			IP:      snapshot.Limits{snapshot.Month: 3_000_000, snapshot.Year: 30_000_000},
			Project: snapshot.Limits{snapshot.Year: 4_000_000},
		},
		KeyTypes: []snapshot.KeyType{
			{ID: "kty_1", Name: "full", Scopes: []string{"*"}, BuiltIn: true},
			{ID: "kty_2", Name: "none"},
			{ID: "kty_3", Name: "read-only", Scopes: []string{"read"}, BuiltIn: true},
			{ID: "kty_4", Name: "writer", Scopes: []string{"orders:read", "orders:write"}, ExpiresIn: 36 * time.Hour,
				Limits: snapshot.Limits{snapshot.Month: 5000}},
		},
		Tenants: []snapshot.Tenant{
			{
				ID:            "tnt_2",
				Name:          "acme",
				FallbackOwner: "acme-fallback",
			}, {ID: "tnt_1", Name: "default"}, {ID: "tnt_3", Name: "gone", Detached: true},
		},
		Versions: []snapshot.Version{
			version("1", "1.0.0", snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode: snapshot.Authenticate, Methods: keys, Keyless: snapshot.Reject,
			}},
				env("1", "dev", "/dev"), at(env("2", "prod", "/base"), "api.shop.example", "xn--bcher-kva.example")),
			version("2", "2.0.0", snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode:    snapshot.Authenticate,
				Methods: keys,
				Keyless: snapshot.OwnerFallback,
			}},
				env("3", "prod", "")),
			version("5", "fenced", snapshot.Access{
				RequestsAuth: snapshot.RequestsAuth{
					Mode:    snapshot.Authenticate,
					Methods: keys,
					Keyless: snapshot.OwnerFallback,
				},
				IP: snapshot.IPRules{
					Allow: ranges("127.0.0.0/8", "2001:db8::/32"), Deny: ranges("127.0.0.2/32", "198.51.100.0/24")},
			},
				env("6", "prod", "/fenced")),
			version("3", "open", snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode: snapshot.Passthrough, Keyless: snapshot.Reject,
			}},
				at(env("4", "prod", "/open/"), "open.shop.example")),
			version("4", "v3-optional", snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode:    snapshot.Passthrough,
				Methods: keys,
				Keyless: snapshot.Reject,
			}},
				env("5", "prod", "/a%20b/~c")),
			version("6", "walled", snapshot.Access{
				RequestsAuth: snapshot.RequestsAuth{
					Mode:    snapshot.Passthrough,
					Keyless: snapshot.Reject,
				},
				IP: snapshot.IPRules{Deny: ranges("0.0.0.0/0", "::/0")},
			},
				env("7", "prod", "/walled")),
		},
	}
}

// Plain is a key with its plaintext, and with that of its former secret.
type Plain struct {
	snapshot.Key
	Plaintext, Old string
}

// Keys is one key of every kind, in ascending order of ids, by these names:
// active, allenvs, dev, expired, frozen, frozenexpired, future, graced,
// graceover, noscopes, oddowner, readonly, revoked, unlike, writer, acme,
// detached, faraway, limited, nearby, product, unlimited, detachedfrozen,
// detachedfaraway, revokedlimited.
func Keys() map[string]Plain {
	out := map[string]Plain{}
	add := func(id, name, owner, keyType, env string, change func(*snapshot.Key)) {
		p := Plain{Plaintext: Plaintext(name, env)}
		p.Key = snapshot.Key{
			ID: "key_" + id, ProjectID: ProjectID, Owner: owner, KeyType: keyType, Scopes: scopes(keyType),
			TenantID: "tnt_1", Tenant: "default", Environment: env, State: snapshot.KeyActive,
			Hash: policy.HashKey(p.Plaintext), KeyDetails: contract.KeyDetails{
				Description: "the " + name + " one", Prefix: policy.DisplayPrefix(p.Plaintext),
				Last4: policy.Last4(p.Plaintext), CreatedAt: Base.Add(-time.Hour),
			},
		}
		if change != nil {
			change(&p.Key)
		}
		if p.OldHash != nil {
			p.Old = Plaintext(name+"old", env)
			hash := policy.HashKey(p.Old)
			p.OldHash = &hash
		}
		out[name] = p
	}
	grace := func(end time.Time) func(*snapshot.Key) {
		return func(k *snapshot.Key) { k.OldHash, k.GraceEndsAt = &[32]byte{}, end }
	}
	add("01", "active", "billing-service", "full", "prod", nil)
	add("02", "allenvs", "billing-service", "full", "", nil)
	add("03", "dev", "billing-service", "full", "dev", nil)
	add("04", "expired", "ana", "full", "prod", func(k *snapshot.Key) { k.ExpiresAt = Past })
	add("05", "frozen", "ana", "full", "prod", func(k *snapshot.Key) { k.State = snapshot.KeyFrozen })
	add(
		"06", "frozenexpired", "ana", "full", "prod",
		func(k *snapshot.Key) { k.State, k.ExpiresAt = snapshot.KeyFrozen, Past },
	)
	add(
		"07", "future", "ana", "full", "prod",
		func(k *snapshot.Key) { k.ExpiresAt = Future.Add(123 * time.Millisecond) },
	)
	add("08", "graced", "ben", "writer", "prod", grace(Future))
	add("09", "graceover", "ben", "writer", "prod", grace(Past))
	add("10", "noscopes", "carl", "none", "prod", nil)
	add("11", "oddowner", `o'dd "own\er" {vault://env/HOME} ${HOME} $(id); a,b`, "full", "prod", nil)
	add("12", "readonly", "dora", "read-only", "prod", nil)
	add("13", "revoked", "eve", "full", "prod", func(k *snapshot.Key) { k.State = snapshot.KeyRevoked })
	add("14", "unlike", "dora", "writer", "prod", func(k *snapshot.Key) { k.Scopes = []string{"orders:read"} })
	add("15", "writer", "dora", "writer", "prod", nil)
	in := func(id, name string) func(*snapshot.Key) {
		return func(k *snapshot.Key) { k.TenantID, k.Tenant = id, name }
	}
	add("16", "acme", "frank", "full", "prod", in("tnt_2", "acme"))
	add("17", "detached", "frank", "full", "prod", in("tnt_3", "gone"))
	add(
		"18", "faraway", "gil", "full", "prod",
		func(k *snapshot.Key) { k.AllowedIPs = ranges("203.0.113.0/24", "2001:db8::/32") },
	)
	add("19", "limited", "gil", "writer", "prod", func(k *snapshot.Key) {
		k.Limits = &snapshot.Limits{
			snapshot.Month: 999,
			snapshot.Year:  9999,
		}
	})
	add("20", "nearby", "gil", "full", "", func(k *snapshot.Key) { k.AllowedIPs = ranges("127.0.0.1/32", "::1/128") })
	add("21", "product", "hal", "writer", "prod", func(k *snapshot.Key) { k.ProductID = "prd_1" })
	add("22", "unlimited", "hal", "writer", "prod", func(k *snapshot.Key) { k.Limits = &snapshot.Limits{} })
	add(
		"23", "detachedfrozen", "frank", "full", "prod",
		func(k *snapshot.Key) { in("tnt_3", "gone")(k); k.State = snapshot.KeyFrozen },
	)
	add(
		"24", "detachedfaraway", "frank", "full", "prod",
		func(k *snapshot.Key) { in("tnt_3", "gone")(k); k.AllowedIPs = ranges("203.0.113.0/24") },
	)
	add("25", "revokedlimited", "eve", "full", "prod", func(k *snapshot.Key) {
		k.State, k.Limits, k.AllowedIPs = snapshot.KeyRevoked, &snapshot.Limits{snapshot.Day: 1}, ranges("127.0.0.0/8")
	})
	return out
}

// Stream gives keys the way an export reads them.
func Stream(keys map[string]Plain) func(context.Context) iter.Seq2[snapshot.Key, error] {
	rows := make([]snapshot.Key, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, k.Key)
	}
	slices.SortFunc(rows, func(a, b snapshot.Key) int { return strings.Compare(a.ID, b.ID) })
	return func(context.Context) iter.Seq2[snapshot.Key, error] {
		return func(yield func(snapshot.Key, error) bool) {
			for _, k := range rows {
				if !yield(k, nil) {
					return
				}
			}
		}
	}
}

// AddressOf is where the sample project answers, as its owner sees it.
func AddressOf(version, environment string) string {
	return "http://shop.localhost:8090/" + version + "/" + environment
}

func ranges(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

func scopes(keyType string) []string {
	for _, t := range Project("").KeyTypes {
		if t.Name == keyType {
			return t.Scopes
		}
	}
	return nil
}
