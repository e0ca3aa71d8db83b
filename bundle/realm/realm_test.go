package realm_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle/realm"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// source is the sample project with people.
func source() realm.Source {
	p := sample.Project("http://up.example")
	users := sample.People(p)
	s := realm.Source{Project: p, PerFile: realm.UsersPerFile}
	s.Users = func(t snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
		return func(yield func(*snapshot.User, error) bool) {
			for u, err := range users(nil, t) {
				if !yield(&u, err) {
					return
				}
			}
		}
	}
	for _, t := range p.Tenants {
		if t.Directory != nil {
			s.Tenants = append(s.Tenants, t)
		}
	}
	return s
}

// usersIn lists the ids of the users in a file.
func usersIn(t *testing.T, text string) []string {
	t.Helper()
	var file struct {
		Users []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, u := range file.Users {
		ids = append(ids, u.ID)
	}
	return ids
}

// Every user is in one file and no user in two, wherever the tenants' boundaries lie.
func TestUsers_severalFiles(t *testing.T) {
	for perFile := int64(1); perFile <= 8; perFile++ {
		s := source()
		s.PerFile = perFile
		var text strings.Builder
		if err := s.WriteRealm(&text); err != nil {
			t.Fatal(err)
		}
		got := usersIn(t, text.String())[1:] // the first is the machine's
		files := realm.Files{Source: s}
		defer files.Close()
		inOrder := map[int]string{}
		for n := range s.UserFiles() {
			text.Reset()
			if err := files.Write(&text, n); err != nil {
				t.Fatal(err)
			}
			inOrder[n] = text.String()
			more := usersIn(t, text.String())
			if int64(len(more)) > perFile {
				t.Errorf("%d users in a file, at most %d fit", len(more), perFile)
			}
			got = append(got, more...)
		}
		want := []string{"usr_b00", "usr_b01", "usr_a00", "usr_a01", "usr_a02", "usr_a03", "usr_a04"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d a file (-want +got):\n%s", perFile, diff)
		}
		for n, want := range inOrder { // in any order
			text.Reset()
			if err := files.Write(&text, n); err != nil || text.String() != want {
				t.Errorf("%d a file: file %d out of order differs, %v", perFile, n, err)
			}
		}
	}
}

// Keycloak replaces ${NAME} anywhere in the file: only secrets may be that.
func TestRealm_placeholders(t *testing.T) {
	s := source()
	s.Project.DisplayName = `\u0024\u007bHOME} ${HOME} ` + "\x00postern{HOME}"
	var text strings.Builder
	if err := s.WriteRealm(&text); err != nil {
		t.Fatal(err)
	}
	var found []string
	for rest := text.String(); ; {
		_, after, more := strings.Cut(rest, "${")
		if !more {
			break
		}
		name, behind, _ := strings.Cut(after, "}")
		found = append(found, name)
		rest = behind
	}
	want := []string{"LOGIN_SECRET_CLI_2", "LOGIN_SECRET_IDP_1", "LOGIN_APP_IDP_3", "LOGIN_SECRET_IDP_3"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("placeholders (-want +got):\n%s", diff)
	}
	var whole struct{ DisplayName string }
	if err := json.Unmarshal([]byte(text.String()), &whole); err != nil || whole.DisplayName != s.Project.DisplayName {
		t.Errorf("%v: the display name is %q, want %q", err, whole.DisplayName, s.Project.DisplayName)
	}
}

// A group in two groups is below the first; its members are in the other besides, and in
// what that is in.
func TestMembersOf_severalGroups(t *testing.T) {
	group := func(id string, parents ...string) snapshot.Group {
		return snapshot.Group{ID: id, Name: "n" + id, Parents: parents}
	}
	tenant := snapshot.Tenant{ID: "tnt_1", Name: "default", Directory: &snapshot.Directory{
		Groups: []snapshot.Group{group("a"), group("b", "d"), group("c", "a", "b"), group("d")}, Users: 1,
	}}
	s := realm.Source{Project: &snapshot.Project{Name: "shop"}, Tenants: []snapshot.Tenant{tenant}, PerFile: 10}
	s.Users = func(snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
		return func(yield func(*snapshot.User, error) bool) {
			yield(&snapshot.User{ID: "usr_1", Memberships: []snapshot.Membership{{GroupID: "c"}}}, nil)
		}
	}
	var text strings.Builder
	if err := s.WriteRealm(&text); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Users []struct{ Groups []string }
	}
	if err := json.Unmarshal([]byte(text.String()), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"/default/na/nc", "/default/nd/nb", "/default/nd"}
	if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got.Users[0].Groups)); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
