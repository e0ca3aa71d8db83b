package imports_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/appclients"
	"postern/testkit"
	"postern/testkit/state"
)

// sample returns a project with people, keys, an app client and a tenant of the team.
func sample(t *testing.T) made {
	t.Helper()
	for seed := range uint64(1000) {
		m := newMaker(seed).build()
		p := m.project
		acme := slices.IndexFunc(p.Tenants, func(one snapshot.Tenant) bool {
			return one.Name == "acme" && !one.Detached && len(m.users[one.ID]) > 0
		})
		own := slices.IndexFunc(p.Tenants, func(one snapshot.Tenant) bool {
			return one.Name == "default" && len(m.users[one.ID]) > 1 && len(one.Directory.Groups) > 1
		})
		owned := slices.ContainsFunc(m.keys, func(k snapshot.Key) bool { return strings.HasPrefix(k.Owner, "usr_") })
		if acme < 0 || own < 0 || !owned || len(p.Clients) < 2 || len(p.Clients[0].Providers) < 2 {
			continue
		}
		if slices.ContainsFunc(p.Clients, func(c snapshot.AppClient) bool { return c.TenantID == p.Tenants[own].ID }) {
			return m
		}
	}
	t.Fatal("no seed makes such a project")
	return made{}
}

func (w *world) refused(t *testing.T, zip []byte, in contract.NewImport) *fault.Error {
	t.Helper()
	_, err := w.Import(t.Context(), w.owner, in, bytes.NewReader(zip), int64(len(zip)))
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("error %v, want a refusal", err)
	}
	return refusal
}

// rows counts the rows of every table that an import writes.
func rows(t *testing.T, db *models.DB) string {
	t.Helper()
	var out []string
	for _, table := range []string{
		"projects", "versions", "environments", "key_types", "tenants", "project_tenants", "products", "api_keys",
		"app_clients", "providers", "group_mappings", "user_groups", "group_groups", "end_users", "identities",
		"group_members", "group_owners", "mapped_members", "login_consents", "signup_policies", "approvals",
		"relations", "revisions", "audit_entries",
	} {
		var n int
		if err := db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(table, " ", n))
	}
	return strings.Join(out, ", ")
}

// tenantOf returns the name of an app client's tenant.
func tenantOf(p *snapshot.Project, c snapshot.AppClient) string {
	return p.Tenants[slices.IndexFunc(p.Tenants, func(one snapshot.Tenant) bool { return one.ID == c.TenantID })].Name
}

// ofCode returns the items with a code.
func ofCode(items []contract.LeftOut, code string) []contract.LeftOut {
	return slices.DeleteFunc(slices.Clone(items), func(one contract.LeftOut) bool { return one.Code != code })
}

func codes(items []contract.LeftOut) (out []string) {
	for _, one := range items {
		if !slices.Contains(out, one.Code) {
			out = append(out, one.Code)
		}
	}
	return out
}

func TestImport_dryRun(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		zip := sample(t).zip(t, bundle.FormatData)
		before := rows(t, db)
		would := w.take(t, zip, contract.NewImport{DryRun: true})
		if after := rows(t, db); after != before {
			t.Errorf("it has written: %s, before: %s", after, before)
		}
		did := w.take(t, zip, contract.NewImport{})
		if would.Made != did.Made || would.Project.ID != did.Project.ID {
			t.Errorf("it would make %+v as %s, and made %+v as %s", would.Made, would.Project.ID, did.Made,
				did.Project.ID)
		}
		if !reflect.DeepEqual(would.LeftOut, did.LeftOut) {
			t.Errorf("it would leave out %+v, and left out %+v", would.LeftOut, did.LeftOut)
		}
	})
}

// A second import into one installation gets new ids and no keys.
func TestImport_nextToOriginal(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		m := sample(t)
		zip := m.zip(t, bundle.FormatGateway)
		first := w.take(t, zip, contract.NewImport{})
		before := rows(t, db)
		refusal := w.refused(t, zip, contract.NewImport{})
		if refusal.Kind != fault.Conflict || refusal.Code != "name_taken" || refusal.Fields[0].Pointer != "/name" {
			t.Errorf("under the same name: %v", refusal)
		}
		if after := rows(t, db); after != before {
			t.Errorf("the refused import has written: %s, before: %s", after, before)
		}
		m.project.API.Audience = "" // which one project of the team has
		zip = m.zip(t, bundle.FormatGateway)
		second := w.take(t, zip, contract.NewImport{Name: "another"})
		if second.Project.ID == first.Project.ID || second.Project.Name != "another" {
			t.Errorf("the second project is %s, %s", second.Project.Name, second.Project.ID)
		}
		if second.Made.Keys != 0 || second.Made.Versions != first.Made.Versions {
			t.Errorf("it made %+v", second.Made)
		}
		for _, code := range []string{"new_ids", "keys_taken", "tenant_exists"} {
			if !slices.Contains(codes(second.LeftOut), code) {
				t.Errorf("%s is not listed: %+v", code, codes(second.LeftOut))
			}
		}
		with, without := len(ofCode(first.LeftOut, appclients.WarnSecretMissing)), 0
		for _, c := range m.project.Clients {
			if tenantOf(m.project, c) != "default" { // of the team, which has it already
				continue
			}
			for _, p := range c.Providers {
				if p.Enabled && !p.Settings.Managed &&
					(p.Settings.HasSecret || p.Type == "github" || p.Type == "facebook") {
					without++
				}
			}
		}
		if got := len(ofCode(second.LeftOut, appclients.WarnSecretMissing)); got != without || got == with {
			t.Errorf("%d providers without their secrets are listed, want %d and at first %d", got, without, with)
		}
	})
}

// The users of an imported project get new ids together, and their keys follow them.
func TestImport_keysOfUsers(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		m := sample(t)
		now := models.Now()
		team := w.owner.HomeTeam
		tenant := models.Tenant{ID: models.NewID("tnt"), TeamID: &team, Name: "other", CreatedAt: now, UpdatedAt: now}
		taken := m.users[m.project.Tenants[len(m.project.Tenants)-1].ID][0].ID
		user := models.EndUser{ID: taken, TenantID: tenant.ID, State: "active", CreatedAt: now, UpdatedAt: now}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&tenant, &user) }); err != nil {
			t.Fatal(err)
		}
		out := w.take(t, m.zip(t, bundle.FormatData), contract.NewImport{})
		for query, want := range map[string]int64{
			"SELECT count(*) FROM api_keys WHERE owner LIKE 'usr_%' AND owner NOT IN (SELECT id FROM end_users " +
				"WHERE tenant_id <> '" + tenant.ID + "')": 0,
			"SELECT count(*) FROM api_keys":                                                         int64(len(m.keys)),
			"SELECT count(*) FROM end_users WHERE id = '" + taken + "'":                             1,
			"SELECT count(*) FROM end_users WHERE tenant_id <> '" + tenant.ID + "'":                 out.Made.Users,
			"SELECT count(*) FROM group_members WHERE group_id NOT IN (SELECT id FROM user_groups)": 0,
		} {
			var got int64
			if err := db.SQL().QueryRowContext(t.Context(), query).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}

func TestImport_refused(t *testing.T) {
	for name, test := range testkit.ByName(map[string]struct {
		change func(m *made)
		code   string // "": that of the first field
		at     string // part of the pointer of the first field
	}{
		"a version's name twice": {func(m *made) {
			again := m.project.Versions[0]
			again.ID, again.Environments = "ver_again", nil
			m.project.Versions = append(m.project.Versions, again)
		}, "", "/project-config.json/versions/"},
		"a built-in key type with more scopes": {func(m *made) {
			i := slices.IndexFunc(m.project.KeyTypes, func(t snapshot.KeyType) bool { return t.Name == "read-only" })
			m.project.KeyTypes[i].Scopes = []string{"*"}
			for k := range m.keys {
				if m.keys[k].KeyType == "read-only" {
					m.keys[k].Scopes = []string{"*"}
				}
			}
		}, "", "/project-config.json/key_types"},
		"a key with its own scopes": {func(m *made) { m.keys[0].Scopes = []string{"admin"} },
			"", "/scopes"},
		"a secret that two keys have": {func(m *made) { m.keys[1].Hash = m.keys[0].Hash }, "import_duplicate", ""},
		"a grace period of years": {func(m *made) {
			old := [32]byte{1}
			m.keys[0].OldHash, m.keys[0].GraceEndsAt = &old, time.Now().AddDate(2, 0, 0)
		}, "", "/grace_ends_at"},
		"a range with bits beyond its mask": {func(m *made) {
			m.keys[0].AllowedIPs = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/8")}
		}, "", "/allowed_cidrs"},
		"a redirect to another scheme": {func(m *made) {
			m.project.Clients[0].Settings.RedirectURIs = []string{"javascript:alert(1)"}
		}, "", "/redirect_uris"},
		"a color that ends its rule": {func(m *made) { m.project.Clients[0].Settings.Color = "red;}body{" },
			"", "/branding/color"},
		"a group in itself": {func(m *made) {
			groups := m.project.Tenants[len(m.project.Tenants)-1].Directory.Groups
			groups[0].Parents = []string{groups[1].ID}
			groups[1].Parents = []string{groups[0].ID}
		}, "", "/parents"},
		"a user in an unknown state": {func(m *made) {
			m.users[m.project.Tenants[len(m.project.Tenants)-1].ID][0].State = "root"
		}, "", "/state"},
		"consent to a client of another tenant": {func(m *made) {
			m.users[m.project.Tenants[len(m.project.Tenants)-1].ID][0].Consents = []snapshot.Consent{
				{ClientID: "cli_x"},
			}
		}, "", "/consents/0"},
		"without its own tenant": {func(m *made) {
			m.renameTenant(&m.project.Tenants[len(m.project.Tenants)-1], "zzz")
			for i := range m.project.Versions {
				m.project.Versions[i].Access.JWT = nil
			}
		}, "", "/project-config.json/tenants"},
		"limits out of order": {func(m *made) {
			m.project.Limits.Key = snapshot.Limits{snapshot.Second: 10, snapshot.Minute: 1}
		}, "", "/project-config.json/limits/key/minute"},
		"an issuer of this server": {func(m *made) {
			m.project.Versions[0].Access = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode:    "authenticate",
				Methods: []string{"jwt"},
				Keyless: "reject",
				JWT: &snapshot.AllowedPairs{
					AllowedPairs: []snapshot.TokenIssuer{{Issuer: newServer + "/oauth/cli_x", Audience: "cli_x"}},
				},
			}}
		}, "", "/iss"},
	}) {
		t.Run(name, func(t *testing.T) {
			db := state.OpenSQLite(t)
			w := newWorld(t, db)
			m := sample(t)
			test.change(&m)
			before := rows(t, db)
			refusal := w.refused(t, m.zip(t, bundle.FormatData), contract.NewImport{})
			if test.code != "" && refusal.Code != test.code {
				t.Errorf("code %s, want %s: %v %v", refusal.Code, test.code, refusal, refusal.Fields)
			}
			if test.at != "" && (len(refusal.Fields) == 0 || !strings.Contains(refusal.Fields[0].Pointer, test.at)) {
				t.Errorf("fields %+v, want the first at %s", refusal.Fields, test.at)
			}
			if after := rows(t, db); after != before {
				t.Errorf("it has written: %s, before: %s", after, before)
			}
		})
	}
}

func TestImport_permission(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	zip := sample(t).zip(t, bundle.FormatData)
	team := w.owner.HomeTeam
	as := func(role access.Role, scopes ...access.Scope) access.Principal {
		return access.Principal{
			Account: "acc_x", HomeTeam: team, Roles: map[string]access.Role{team: role}, Scoped: len(scopes) > 0,
			Scopes: scopes,
		}
	}
	for name, test := range map[string]struct {
		p    access.Principal
		kind fault.Kind
	}{
		"anonymous":                    {access.Principal{}, fault.Unauthenticated},
		"viewer":                       {as(access.Viewer), fault.Forbidden},
		"unclaimed workspace":          {as(access.Workspace), fault.Forbidden},
		"a token that may make no key": {as(access.Owner, access.ScopeWrite, access.ScopeUsers), fault.Forbidden},
		"a token without users":        {as(access.Owner, access.ScopeWrite, access.ScopeKeys), fault.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Import(
				t.Context(),
				test.p,
				contract.NewImport{DryRun: true},
				bytes.NewReader(zip),
				int64(len(zip)),
			)
			if fault.KindOf(err) != test.kind {
				t.Errorf("error %v", err)
			}
		})
	}
	allowed := as(access.Member, access.ScopeWrite, access.ScopeUsers, access.ScopeKeys)
	_, err := w.Import(t.Context(), allowed, contract.NewImport{}, bytes.NewReader(zip), int64(len(zip)))
	if err != nil {
		t.Error(err)
	}
}

func TestImport_verification(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	zip := sample(t).zip(t, bundle.FormatData)
	for name, test := range map[string]struct {
		zip  []byte
		in   contract.NewImport
		code string
	}{
		"no zip":          {[]byte("PK"), contract.NewImport{}, "bundle_unreadable"},
		"a changed byte":  {changed(zip), contract.NewImport{}, "bundle_invalid"},
		"another SHA-256": {zip, contract.NewImport{SHA256: strings.Repeat("0", 64)}, "bundle_invalid"},
		"not signed": {
			zip, contract.NewImport{SignedBy: base64.StdEncoding.EncodeToString(make([]byte, 32))}, "bundle_invalid",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if refusal := w.refused(t, test.zip, test.in); refusal.Code != test.code {
				t.Errorf("%v", refusal)
			}
		})
	}
}

func changed(zip []byte) []byte {
	out := bytes.Clone(zip)
	out[len(out)/2] ^= 1
	return out
}

// A key that was revoked here stays revoked, also once retention has removed it.
func TestImport_revokedKeys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		m := sample(t)
		active := slices.IndexFunc(m.keys, func(k snapshot.Key) bool { return k.State == snapshot.KeyActive })
		revoked := slices.IndexFunc(m.keys, func(k snapshot.Key) bool { return k.State == snapshot.KeyRevoked })
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(&models.RevokedHash{TeamID: w.owner.HomeTeam, Hash: m.keys[active].Hash[:]},
				&models.RevokedHash{TeamID: w.owner.HomeTeam, Hash: m.keys[revoked].Hash[:]})
		})
		if err != nil {
			t.Fatal(err)
		}
		out := w.take(t, m.zip(t, bundle.FormatData), contract.NewImport{})
		found, err := db.Read(t.Context()).KeysByID([]string{m.keys[active].ID, m.keys[revoked].ID})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || found[0].ID != m.keys[revoked].ID || found[0].State != string(snapshot.KeyRevoked) {
			t.Errorf("of both keys there are %+v, want the one that is revoked in the zip too", found)
		}
		if out.Made.Keys != int64(len(m.keys)-1) || !slices.Contains(codes(out.LeftOut), "keys_revoked") {
			t.Errorf("it made %d of %d keys and left out %q", out.Made.Keys, len(m.keys), codes(out.LeftOut))
		}
	})
}
