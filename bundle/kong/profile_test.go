package kong

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"postern/bundle/jsonfile"
	"postern/bundle/realm"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// Every claim of a user's profile moves to the realm, or the ledger's item of app clients names it.
func TestLoginFates_profile(t *testing.T) {
	const profile = `{"preferred_username":"ana.p","given_name":"Ana","family_name":"Pop","middle_name":"M",` +
		`"nickname":"annie","locale":"de","zoneinfo":"Europe/Berlin","gender":"f","birthdate":"1990-01-02",` +
		`"picture":"https://a.example/p","profile":"https://a.example","website":"https://w.example","updated_at":17}`
	stays := []string{"preferred_username", "updated_at"}
	for name, missing := range map[string][]string{
		"Ana Pop": stays, "Dr. Ana Pop": append(slices.Clone(stays), "given_name", "family_name"),
	} {
		got := realmUser(t, snapshot.User{ID: "usr_1", Name: name, Profile: profile})
		moved := map[string]string{
			"given_name": got.FirstName, "family_name": got.LastName, "preferred_username": got.Username,
		}
		for claim, values := range got.Attributes {
			moved[claim] = values[0]
		}
		var absent []string
		for claim, value := range jsonfile.Texts(profile) {
			if moved[claim] != value {
				absent = append(absent, claim)
			}
		}
		if _, ok := moved["updated_at"]; !ok {
			absent = append(absent, "updated_at")
		}
		slices.Sort(absent)
		if slices.Sort(missing); !slices.Equal(absent, missing) {
			t.Errorf("%s: the realm lacks %v, want %v", name, absent, missing)
		}
		for _, fate := range loginFates() {
			for _, claim := range absent {
				if strings.HasPrefix(fate.Reason, "realm") && !strings.Contains(fate.Note, "`"+claim+"`") {
					t.Errorf("%s does not name %s", fate.Reason, claim)
				}
			}
		}
	}
}

type userInRealm struct {
	ID, Username, FirstName, LastName string
	Attributes                        map[string][]string
}

// realmUser returns a user as a realm has them.
func realmUser(t *testing.T, u snapshot.User) userInRealm {
	t.Helper()
	p := sample.Project("http://up.example")
	sample.People(p)
	s := realm.Source{Project: p, PerFile: realm.UsersPerFile, Tenants: p.Tenants[:1]}
	s.Users = func(snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
		return func(yield func(*snapshot.User, error) bool) { yield(&u, nil) }
	}
	var text strings.Builder
	if err := s.WriteRealm(&text); err != nil {
		t.Fatal(err)
	}
	var file struct{ Users []userInRealm }
	if err := json.Unmarshal([]byte(text.String()), &file); err != nil {
		t.Fatal(err)
	}
	for _, one := range file.Users {
		if one.ID == u.ID {
			return one
		}
	}
	t.Fatalf("the realm lacks the user: %s", text.String())
	return userInRealm{}
}
