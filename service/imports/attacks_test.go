package imports_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/egress"
	"postern/service/access"
	"postern/testkit"
	"postern/testkit/state"
)

// otherTeam returns the owner of a second team.
func (w *world) otherTeam(t *testing.T) access.Principal {
	t.Helper()
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "other", ClaimedAt: &now, CreatedAt: now}
	if err := w.DB.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team) }); err != nil {
		t.Fatal(err)
	}
	return access.Principal{
		Account:  models.NewID("acc"),
		Roles:    map[string]access.Role{team.ID: access.Owner},
		HomeTeam: team.ID,
	}
}

// idMember finds the ids of objects. Names of the random users look like ids too.
var idMember = regexp.MustCompile(`"(?:[a-z]+_)?id": ?"([a-z]{3}_[0-9a-z]{26})"`)

func idsIn(t *testing.T, zip []byte) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, text := range unpack(t, zip) {
		for _, match := range idMember.FindAllStringSubmatch(text, -1) {
			found[match[1]] = true
		}
	}
	return found
}

// A team that has another one's zip gets its own copy: no id and no host name, its own keys with the same secrets,
// and nothing of the other team changes.
func TestImport_otherTeam(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		zip := sample(t).zip(t, bundle.FormatGateway)
		first := w.take(t, zip, contract.NewImport{})
		before, _ := w.export(t, first.Project.ID, bundle.FormatGateway)
		w.owner = w.otherTeam(t)
		second := w.take(t, zip, contract.NewImport{Name: "stolen"})
		if second.Made.Keys != first.Made.Keys || second.Made.Users != first.Made.Users {
			t.Errorf("the copy has %+v, the original %+v", second.Made, first.Made)
		}
		after, _ := w.export(t, first.Project.ID, bundle.FormatGateway)
		if !bytes.Equal(before, after) {
			t.Errorf("the original has changed: %v", differing(t, before, after))
		}
		stolen, _ := w.export(t, second.Project.ID, bundle.FormatGateway)
		theirs := idsIn(t, after)
		if len(theirs) < 30 {
			t.Errorf("only %d ids were compared", len(theirs))
		}
		for id := range idsIn(t, stolen) {
			if theirs[id] {
				t.Errorf("both projects have %s", id)
			}
		}
		var hosts int
		if err := db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM domains").Scan(&hosts); err != nil {
			t.Fatal(err)
		}
		if hosts != 0 {
			t.Errorf("%d host names are claimed without proof", hosts)
		}
	})
}

// A hash in a zip takes no key from another team whose callers have the secret, neither as the
// secret of a key nor as the previous one, and no answer shows that it exists there. In one team, it is one key.
func TestImport_foreignKeyHashes(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		soon := time.Now().Add(time.Hour)
		current, previous := [32]byte{1}, [32]byte{2}
		victim := sample(t)
		victim.keys[0].Hash, victim.keys[0].OldHash, victim.keys[0].GraceEndsAt = current, &previous, soon
		theirs, victimTeam := w.take(t, victim.zip(t, bundle.FormatData), contract.NewImport{}), w.owner

		zips := map[string]func(*snapshot.Key){
			"the secret as secret":            func(k *snapshot.Key) { k.Hash = current },
			"the previous secret as secret":   func(k *snapshot.Key) { k.Hash = previous },
			"the secret as previous":          func(k *snapshot.Key) { k.OldHash, k.GraceEndsAt = &current, soon },
			"the previous secret as previous": func(k *snapshot.Key) { k.OldHash, k.GraceEndsAt = &previous, soon },
		}
		for name, steal := range testkit.ByName(zips) {
			w.owner = w.otherTeam(t)
			m := sample(t)
			m.project.Name = "thief-" + strings.ReplaceAll(name, " ", "-")
			m.project.API.Audience, m.keys = "", m.keys[:1]
			m.keys[0].Hash, m.keys[0].OldHash, m.keys[0].GraceEndsAt = [32]byte{9}, nil, time.Time{}
			steal(&m.keys[0])
			out := w.take(t, m.zip(t, bundle.FormatData), contract.NewImport{})
			list := codes(out.LeftOut)
			if out.Made.Keys != 1 || strings.Contains(strings.Join(list, " "), "keys_taken") {
				t.Errorf("%s, in another team: %d keys are made; left out: %v", name, out.Made.Keys, list)
			}
			again := contract.NewImport{Name: m.project.Name + "-2"}
			out = w.take(t, m.zip(t, bundle.FormatData), again)
			list = codes(out.LeftOut)
			if out.Made.Keys != 0 || !strings.Contains(strings.Join(list, " "), "keys_taken") {
				t.Errorf("%s: %d keys are made; left out: %v", name, out.Made.Keys, list)
			}
		}
		w.owner = victimTeam
		zip, _ := w.export(t, theirs.Project.ID, bundle.FormatData)
		rows := strings.Join(strings.Fields(keyFiles(t, zip)), "")
		for _, hash := range [][32]byte{current, previous} {
			if !strings.Contains(rows, hex.EncodeToString(hash[:])) {
				t.Errorf("the key of the other team has lost the hash %x", hash)
			}
		}
	})
}

func keyFiles(t *testing.T, zip []byte) string {
	t.Helper()
	var out strings.Builder
	for name, text := range unpack(t, zip) {
		if strings.HasSuffix(name, "/keys.jsonl") {
			out.WriteString(text)
		}
	}
	return out.String()
}

// guarded checks addresses as a server does, except for the host names of the random
// projects, which would be looked up.
type guarded struct{ *egress.Guard }

func (g guarded) CheckTarget(ctx context.Context, raw string) (*url.URL, error) {
	if u, err := url.Parse(raw); err == nil && strings.HasSuffix(u.Hostname(), ".example") {
		return u, nil
	}
	return g.Guard.CheckTarget(ctx, raw)
}

// guard has the installation check addresses.
func (w *world) guard(t *testing.T) {
	t.Helper()
	guard, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.Projects.Targets, w.AppClients.Targets = guarded{guard}, guarded{guard}
}

// hostile is a change of a project that an import must refuse.
type hostile struct {
	change func(*made)
	at     string // part of the pointer of the first field
}

func withTarget(to string) func(*made) {
	return func(m *made) { m.project.Versions[0].Environments[0].Target = to }
}

func withIssuer(issuer, keys string) func(*made) {
	return func(m *made) {
		m.project.Versions[0].Access = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
			Mode:    "authenticate",
			Methods: []string{"jwt"},
			Keyless: "reject",
			JWT: &snapshot.AllowedPairs{
				AllowedPairs: []snapshot.TokenIssuer{{Issuer: issuer, Audience: "api", JWKSURL: keys}},
			},
		}}
	}
}

func withIntrospection(endpoint string) func(*made) {
	return func(m *made) {
		m.project.Versions[0].Access = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
			Mode:    "authenticate",
			Methods: []string{"opaque"},
			Keyless: "reject",
			Opaque: &snapshot.Introspection{
				Introspection: contract.Introspection{
					Endpoint: endpoint, Method: snapshot.SecretPost, ClientID: "gateway",
				},
			},
		}}
	}
}

func withClient(change func(*snapshot.ClientSettings)) func(*made) {
	return func(m *made) { change(m.project.Clients[0].Settings) }
}

func withProviderAt(issuer string) func(*made) {
	return func(m *made) {
		p := &m.project.Clients[0].Providers[0]
		p.Type, p.Issuer, p.Settings.Managed, p.Settings.Mappings = "oidc", issuer, false, nil
		p.Settings.SignInDomains, p.Settings.AuthoritativeDomains = nil, nil
	}
}

var hostileAddresses = map[string]hostile{
	"target: metadata of the cloud": {withTarget("http://169.254.169.254/latest/meta-data"), "/target"},
	"target: private network":       {withTarget("http://10.0.0.1/"), "/target"},
	"target: this machine":          {withTarget("http://[::1]:8080/"), "/target"},
	"target: mapped address":        {withTarget("http://[::ffff:127.0.0.1]/"), "/target"},
	"keys of an issuer":             {withIssuer("https://idp.example", "https://192.168.0.1/keys"), "/jwks_url"},
	"issuer":                        {withIssuer("https://10.0.0.1", ""), "/requests_auth"},
	"introspection":                 {withIntrospection("https://10.0.0.1/introspect"), "/requests_auth/opaque"},
	"introspection without TLS":     {withIntrospection("http://93.184.215.14/introspect"), "/requests_auth/opaque"},
	"issuer of a provider":          {withProviderAt("https://10.0.0.1"), "/issuer"},
	"redirect to a document in itself": {withClient(func(s *snapshot.ClientSettings) {
		s.RedirectURIs = []string{"data:text/html,x"}
	}), "/redirect_uris"},
	"redirect to another's page in plain text": {withClient(func(s *snapshot.ClientSettings) {
		s.RedirectURIs = []string{"http://evil.example/cb"}
	}), "/redirect_uris"},
	"logout to a script": {withClient(func(s *snapshot.ClientSettings) {
		s.LogoutURIs = []string{"javascript:alert(1)"}
	}), "logout"},
	"backchannel without TLS": {withClient(func(s *snapshot.ClientSettings) {
		s.BackchannelLogoutURI = "http://10.0.0.1/logout"
	}), "backchannel"},
	"logo of a script": {
		withClient(func(s *snapshot.ClientSettings) { s.LogoURL = "javascript:alert(1)" }), "/logo_url",
	},
}

// Addresses in a zip are held to the rules of those that are typed in.
func TestImport_addresses(t *testing.T) {
	for name, test := range hostileAddresses {
		t.Run(name, func(t *testing.T) {
			db := state.OpenSQLite(t)
			w := newWorld(t, db)
			w.guard(t)
			m := sample(t)
			test.change(&m)
			before := rows(t, db)
			refusal := w.refused(t, m.zip(t, bundle.FormatData), contract.NewImport{})
			if len(refusal.Fields) == 0 || !strings.Contains(refusal.Fields[0].Pointer, test.at) {
				t.Errorf("%v: fields %+v, want the first at %s", refusal, refusal.Fields, test.at)
			}
			if after := rows(t, db); after != before {
				t.Errorf("it has written: %s, before: %s", after, before)
			}
		})
	}
	t.Run("none of them", func(t *testing.T) {
		w := newWorld(t, state.OpenSQLite(t))
		w.guard(t)
		w.take(t, sample(t).zip(t, bundle.FormatData), contract.NewImport{DryRun: true})
	})
}
