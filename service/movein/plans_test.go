package movein_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	source "postern/core/movein"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/domains"
	"postern/service/movein"
	"postern/testkit/state"
)

const (
	webKey = "4d1c9a2b7e8f4a6db1c2d3e4f5a69788"
	token  = "s3cret-upstream-token"
)

const kongFile = `_format_version: "3.0"
services:
- name: orders
  url: http://${UPSTREAM}:8080
  plugins: [{name: request-transformer, config: {add: {headers: ["X-Api-Token:` + token + `"]}}}]
  routes:
  - {name: orders, paths: [/orders]}
  - {name: admin, paths: [/admin], plugins: [{name: oauth2}]}
plugins: [{name: key-auth}]
consumers: [{username: web, keyauth_credentials: [{key: ` + webKey + `}, {key: $OTHER_KEY}, {key: secret}]}]
`

// fixture has plans, and an owner of a team.
type fixture struct {
	*movein.Plans
	db    *models.DB
	owner access.Principal
}

// each runs a test on both databases.
func each(t *testing.T, run func(t *testing.T, f *fixture)) {
	t.Helper()
	state.Each(t, func(t *testing.T, db *models.DB) {
		vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
		if err != nil {
			t.Fatal(err)
		}
		now := models.Now()
		team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: now, ClaimedAt: &now}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) }); err != nil {
			t.Fatal(err)
		}
		names := &domains.Service{DB: db}
		run(t, &fixture{
			Plans: &movein.Plans{DB: db, Vault: vault, CheckHost: names.CheckHost}, db: db,
			owner: principal(team.ID, access.Owner),
		})
	})
}

func principal(team string, role access.Role) access.Principal {
	return access.Principal{Account: "acc_1", HomeTeam: team, Roles: map[string]access.Role{team: role}}
}

func (f *fixture) create(t *testing.T) contract.PlannedImport {
	t.Helper()
	out, err := f.Create(t.Context(), f.owner, contract.NewImport{}, one(kongFile))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func path(p contract.PlannedImport) contract.ImportPath { return contract.ImportPath{Import: p.ID} }

func TestPlans_change(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		p := f.create(t)
		if p.State != contract.ImportPlanned || len(p.Projects) != 0 || p.Keys.Imported != 1 || p.Keys.Weak != 1 ||
			len(p.ByHand.Placeholders) != 2 || len(p.Filled) != 0 || p.Summary.Total() != int64(len(p.Items)) {
			t.Errorf("the plan is %+v", p)
		}
		changed, err := f.Update(t.Context(), f.owner, contract.ImportPlanUpdate{
			ImportPath: path(p), Condition: contract.Condition{IfMatch: p.ETag}, Body: contract.ImportPlanChange{
				Name: new("staging"), Open: &[]string{"admin"}, Hosts: &[]string{"API.example.com"},
				AllowWeak: new(true), Theirs: new(true),
				Set: map[string]contract.Secret{"UPSTREAM": "orders.internal", "OTHER_KEY": "0f1e2d3c4b5a69788796a5b4"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if changed.ETag == p.ETag || len(changed.Projects) != 1 || changed.Keys.Imported != 3 ||
			!slices.Equal(changed.Filled, []string{"OTHER_KEY", "UPSTREAM"}) || len(changed.ByHand.Placeholders) != 0 ||
			!slices.Equal(changed.ByHand.Hosts, []string{"api.example.com"}) || !changed.Theirs ||
			p.Name != "kong" || changed.Name != "staging" || changed.Product != "staging" ||
			changed.Tenant != "staging" {
			t.Errorf("the new plan is %+v", changed)
		}
		again, err := f.Get(t.Context(), f.owner, path(p))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := encoded(t, changed), encoded(t, again); a != b {
			t.Errorf("the change answered\n%s\nthe plan is\n%s", a, b)
		}
		emptied, err := f.Update(t.Context(), f.owner, contract.ImportPlanUpdate{
			ImportPath: path(p), Body: contract.ImportPlanChange{
				Open: &[]string{}, Set: map[string]contract.Secret{"UPSTREAM": ""},
			},
		})
		if err != nil || !slices.Equal(emptied.Filled, []string{"OTHER_KEY"}) || len(emptied.Projects) != 0 {
			t.Errorf("without the value, the plan is %+v, %v", emptied, err)
		}
	})
}

func one(text string) []source.File { return []source.File{{Text: []byte(text)}} }

// Hosts of the file that can't be custom domains are left out, and the plan says so.
func TestPlans_unservedHosts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		p, err := f.Create(t.Context(), f.owner, contract.NewImport{}, one(`_format_version: "3.0"
services:
- url: http://orders.example.net
  routes:
  - {name: some, hosts: [localhost, 192.0.2.1, orders, api.example.com], paths: [/a]}
  - {name: none, hosts: [localhost], paths: [/b]}
  - {name: all, hosts: [api.example.com], paths: [/c]}
`))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.ByHand.Hosts, []string{"api.example.com"}) {
			t.Errorf("the hosts are %v", p.ByHand.Hosts)
		}
		unserved := map[string]bool{}
		for _, item := range p.Items {
			unserved[item.Name] = slices.Contains(item.Codes, "route.unserved_host")
		}
		if !unserved["some"] || !unserved["none"] || unserved["all"] {
			t.Errorf("items %+v", p.Items)
		}
		for _, version := range p.Projects[0].Versions {
			for _, domain := range version.Domains {
				if domain.Host != "api.example.com" {
					t.Errorf("the plan has a custom domain %s", domain.Host)
				}
			}
		}
	})
}

// Addresses that the operator has allowed aren't left to do by hand.
func TestPlans_allowedAddresses(t *testing.T) {
	t.Parallel()
	const text = `_format_version: "3.0"
services:
- {name: one, url: "http://10.1.0.5:80", routes: [{paths: [/one]}]}
- {name: two, url: "http://10.2.0.5:80", routes: [{paths: [/two]}]}
`
	each(t, func(t *testing.T, f *fixture) {
		for name, tt := range map[string]struct {
			reaches func(netip.Addr) bool
			want    []string
		}{
			"none": {nil, []string{"10.1.0.5/32", "10.2.0.5/32"}},
			"one":  {netip.MustParsePrefix("10.1.0.0/16").Contains, []string{"10.2.0.5/32"}},
			"both": {netip.MustParsePrefix("10.0.0.0/8").Contains, []string{}},
		} {
			f.Reaches = tt.reaches
			got, err := f.Create(t.Context(), f.owner, contract.NewImport{}, one(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.ByHand.EgressCIDRs); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

func TestPlans_refusals(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		p := f.create(t)
		for _, tt := range []struct {
			name    string
			change  contract.ImportPlanChange
			ifMatch string
			want    string
		}{
			{name: "another ETag", ifMatch: "x", want: "changed_concurrently"},
			{
				name: "an unknown route", change: contract.ImportPlanChange{Open: &[]string{"none"}},
				want: "/open/0",
			},
			{
				name:   "an unknown placeholder",
				change: contract.ImportPlanChange{Set: map[string]contract.Secret{"a/b": "c"}}, want: "/set/a~1b",
			},
			{name: "a host", change: contract.ImportPlanChange{Hosts: &[]string{"*.example.com"}}, want: "/hosts/0"},
			{name: "a name", change: contract.ImportPlanChange{Name: new("Kong 2")}, want: "/name"},
			{
				name: "an unknown target", change: contract.ImportPlanChange{Trust: &[]string{"none"}},
				want: "/trust/0",
			},
			{name: "no text", change: contract.ImportPlanChange{Trust: &[]string{"a\x00"}}, want: "/trust/0"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				_, err := f.Update(t.Context(), f.owner, contract.ImportPlanUpdate{
					ImportPath: path(p), Condition: contract.Condition{IfMatch: tt.ifMatch}, Body: tt.change,
				})
				if got := fault.CodeOf(err); got != tt.want && pointerOf(err) != tt.want {
					t.Errorf("error %v (%s)", err, got)
				}
			})
		}
		same, err := f.Get(t.Context(), f.owner, path(p))
		if err != nil || same.ETag != p.ETag {
			t.Errorf("a refusal has changed the plan: %v", err)
		}
	})
}

func TestPlans_hostile(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		many := strings.Builder{}
		many.WriteString("_format_version: '3.0'\nplugins:\n")
		for range 100_000 {
			many.WriteString("- {name: cors}\n")
		}
		bomb := "_format_version: '3.0'\na: &a [x,x,x,x,x,x,x,x,x,x]\n"
		for c := 'b'; c < 'j'; c++ {
			bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 10))
		}
		for name, text := range map[string]string{
			"plugins": many.String(), "aliases": bomb, "NUL": "_format_version: '3.0'\nservices:\n- name: \x00\n",
			"size":     "_format_version: '3.0'\n#" + strings.Repeat("x", 21<<20),
			"a member": "_format_version: '3.0'\nservices: []\nservices: []\n", "nothing": "",
			"nesting": `{"_format_version":"3.0","a":` + strings.Repeat("[", 100_000),
		} {
			_, err := f.Create(t.Context(), f.owner, contract.NewImport{}, one(text))
			if pointerOf(err) != "/file" {
				t.Errorf("%s: error %v", name, err)
			}
		}
		if n := count(t, f.db, "import_plans"); n != 0 {
			t.Errorf("%d plans are kept", n)
		}
	})
}

// No key is in the database, and no other secret unless it is sealed. Nothing that is shown or recorded has one.
func TestPlans_secrets(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		p := f.create(t)
		const value = "a-value-of-a-placeholder"
		p, err := f.Update(t.Context(), f.owner, contract.ImportPlanUpdate{
			ImportPath: path(p), Body: contract.ImportPlanChange{Set: map[string]contract.Secret{"OTHER_KEY": value}},
		})
		if err != nil {
			t.Fatal(err)
		}
		full, err := f.Download(t.Context(), f.owner, path(p))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(full)
		if err != nil {
			t.Fatal(err)
		}
		all := encoded(t, p) + string(text) + dump(t, f.db, "import_plans") + dump(t, f.db, "audit_entries")
		for _, secret := range []string{webKey, token, value} {
			if strings.Contains(all, secret) {
				t.Errorf("%s is in %s", secret, all)
			}
		}
		if n := count(t, f.db, "audit_entries"); n != 2 {
			t.Errorf("%d entries, want those of the plan and of its change", n)
		}
	})
}

func TestPlans_access(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		p := f.create(t)
		viewer, outsider := principal(f.owner.HomeTeam, access.Viewer), principal("team_other", access.Owner)
		outsider.Account = "acc_2"
		for who, want := range map[*access.Principal]fault.Kind{
			&viewer: fault.Forbidden, &outsider: fault.NotFound, {}: fault.Unauthenticated,
		} {
			_, got := f.Get(t.Context(), *who, path(p))
			_, change := f.Update(t.Context(), *who, contract.ImportPlanUpdate{ImportPath: path(p)})
			_, download := f.Download(t.Context(), *who, path(p))
			_, deletion := f.Delete(t.Context(), *who, path(p))
			for _, err := range []error{got, change, download, deletion, f.MayRead(t.Context(), *who, path(p))} {
				if fault.KindOf(err) != want {
					t.Errorf("%+v: error %v, want the kind %v", who, err, want)
				}
			}
		}
		if _, err := f.Delete(t.Context(), f.owner, path(p)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Get(t.Context(), f.owner, path(p)); fault.KindOf(err) != fault.NotFound {
			t.Errorf("after its deletion: %v", err)
		}
	})
}

// An import that was applied has no plan, and says so.
func TestPlans_applied(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		row := models.MoveIn{
			ID: models.NewID("imp"), TeamID: f.owner.HomeTeam, Gateway: "kong/kong", CreatedAt: models.Now(),
		}
		if err := f.db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&row) }); err != nil {
			t.Fatal(err)
		}
		in := contract.ImportPath{Import: row.ID}
		_, got := f.Get(t.Context(), f.owner, in)
		_, deletion := f.Delete(t.Context(), f.owner, in)
		for _, err := range []error{got, deletion} {
			if fault.CodeOf(err) != "import_applied" {
				t.Errorf("error %v", err)
			}
		}
		other := principal("team_other", access.Owner)
		if _, err := f.Get(t.Context(), other, in); fault.KindOf(err) != fault.NotFound {
			t.Errorf("another team's import: %v", err)
		}
		list, err := f.List(t.Context(), f.owner, contract.ImportList{})
		if err != nil || len(list.Items) != 1 || list.Items[0].State != contract.ImportApplied {
			t.Errorf("the list is %+v, %v", list, err)
		}
		token := f.owner // that may not create keys
		token.Scoped, token.Scopes = true, []access.Scope{access.ScopeRead, access.ScopeWrite}
		for _, team := range []string{"", f.owner.HomeTeam} {
			if list, err := f.List(t.Context(), token, contract.ImportList{Team: team}); err == nil {
				t.Errorf("a token without the rights for imports gets %+v", list)
			}
		}
	})
}

func TestPlans_most(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var first contract.PlannedImport
		for i := range 10 {
			if p := f.create(t); i == 0 {
				first = p
			}
		}
		_, err := f.Create(t.Context(), f.owner, contract.NewImport{}, one(kongFile))
		if fault.CodeOf(err) != "too_many_plans" {
			t.Errorf("error %v", err)
		}
		list, err := f.List(t.Context(), f.owner, contract.ImportList{})
		if err != nil || len(list.Items) != 10 || list.Items[9].ID != first.ID {
			t.Errorf("the list is %+v, %v", list, err)
		}
	})
}

func pointerOf(err error) string {
	wrong, ok := errors.AsType[*fault.Error](err)
	if !ok || len(wrong.Fields) == 0 {
		return ""
	}
	return wrong.Fields[0].Pointer
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// dump returns all values of a table as text.
func dump(t *testing.T, db *models.DB, table string) string {
	t.Helper()
	rows, err := db.SQL().QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new([]byte)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			out.Write(*value.(*[]byte))
			out.WriteByte('\n')
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Entries of the audit log name the plan, also when it is gone.
func TestPlans_audit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		p := f.create(t)
		if _, err := f.Update(t.Context(), f.owner, contract.ImportPlanUpdate{
			ImportPath: path(p), Body: contract.ImportPlanChange{Name: new("staging")},
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Delete(t.Context(), f.owner, path(p)); err != nil {
			t.Fatal(err)
		}
		entries, err := f.db.Read(t.Context()).AuditEntries(models.AuditFilter{TeamID: f.owner.HomeTeam}, 50)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Detail["change"]+" "+e.Detail["name"])
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"delete staging", "plan kong", "settings staging"}, got); diff != "" {
			t.Error(diff)
		}
	})
}
