package scim

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/verifiers"
)

// sourceOf returns a tenant with users.
func sourceOf(groups []snapshot.Group, users []snapshot.User) Source {
	tenant := snapshot.Tenant{ID: "tnt_1", Name: "default", Directory: &snapshot.Directory{
		Groups: groups, Users: int64(len(users)),
	}}
	return Source{Tenant: tenant, Users: func(context.Context) iter.Seq2[*snapshot.User, error] {
		return func(yield func(*snapshot.User, error) bool) {
			for i := range users {
				if one := users[i]; !yield(&one, nil) {
					return
				}
			}
		}
	}}
}

// hostile returns the tenants of the hostile sample that have people, acme and default.
func hostile(t *testing.T) []Source {
	t.Helper()
	p, _ := sample.Hostile("http://up.example")
	stream := sample.People(p)
	var out []Source
	for _, tenant := range p.Tenants {
		if tenant.Directory == nil {
			continue
		}
		var users []snapshot.User
		for u, err := range stream(t.Context(), tenant) {
			if err != nil {
				t.Fatal(err)
			}
			users = append(users, u)
		}
		one := sourceOf(tenant.Directory.Groups, users)
		one.Tenant = tenant
		out = append(out, one)
	}
	return out
}

type stream = func(context.Context) iter.Seq2[*snapshot.User, error]

func renamed(users stream, change func(*snapshot.User)) stream {
	return func(ctx context.Context) iter.Seq2[*snapshot.User, error] {
		return func(yield func(*snapshot.User, error) bool) {
			for u, err := range users(ctx) {
				if change(u); !yield(u, err) {
					return
				}
			}
		}
	}
}

// filesOf returns the files of a tenant by the kind of message, with the bulk requests
// numbered.
func filesOf(t *testing.T, s Source) map[string]string {
	t.Helper()
	files := map[string]string{}
	text := func(name string, write func(*strings.Builder) error) {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files[name] = out.String()
	}
	text("users", func(out *strings.Builder) error { return s.WriteUsers(t.Context(), out) })
	text("groups", func(out *strings.Builder) error { return s.WriteGroups(t.Context(), out) })
	bulk := &Bulk{Source: s}
	defer bulk.Close()
	for n := range bulk.Pieces() {
		text(fmt.Sprintf("bulk %d", n), func(out *strings.Builder) error { return bulk.Write(t.Context(), out, n) })
	}
	return files
}

func TestFiles_valid(t *testing.T) {
	t.Parallel()
	long := atLimits(3, 4)
	long.Users = renamed(long.Users, func(u *snapshot.User) {
		u.Email = strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 60)+".", 3) + "com"
	})
	sources := append(hostile(t), sourceOf(nil, nil), long)
	for i, s := range sources {
		for name, text := range filesOf(t, s) {
			kind, _, _ := strings.Cut(name, " ")
			if wrong := verifiers.ValidateSCIM(t, kind, []byte(text)); wrong != "" {
				t.Errorf("tenant %d: %s: %.2000s", i, name, wrong)
			}
		}
	}
	for kind, text := range map[string]string{
		"users":  `{"schemas":["urn:ietf:params:scim:api:messages:2.0:ListResponse"],"Resources":[{"userName":1}]}`,
		"groups": `{"schemas":["urn:ietf:params:scim:api:messages:2.0:ListResponse"],"total":1}`,
	} {
		if verifiers.ValidateSCIM(t, kind, []byte(text)) == "" {
			t.Errorf("%s is taken for valid", text)
		}
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	list := filesOf(t, hostile(t)[1])["users"]
	for _, want := range []string{
		`"totalResults": 5`,
		`    {"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"id":"usr_a00","meta":{"resourceType":"User",`,
		`"location":"Users/usr_a00"},"externalId":"usr_a00","userName":"usr_a00","displayName":"Person a",` +
			`"name":{"formatted":"Person a"},` +
			`"emails":[{"value":"a0@example.com","type":"work","primary":true}],"active":true}`,
		`"externalId":"usr_a02","userName":"${user}a"`,
		`"active":false}`,
	} {
		if !strings.Contains(list, want) {
			t.Errorf("users.json has no %s\n%s", want, list)
		}
	}
	if strings.Contains(list, "null") || strings.Contains(list, `"externalId":"{`) {
		t.Errorf("users.json has null, or the external id of another system:\n%s", list)
	}
	if got := strings.Count(list, "\n    {"); got != 5 {
		t.Errorf("%d lines begin a user, want 5", got)
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	groups := []snapshot.Group{
		{ID: "grp_all", Name: "all"}, {ID: "grp_b", Name: "b", Parents: []string{"grp_all"}},
		{ID: "grp_c", Name: "c", DisplayName: "The C", Parents: []string{"grp_all", "grp_b"}},
		{ID: "grp_empty", Name: "empty"},
	}
	var users []snapshot.User
	for i := range 40 {
		u := snapshot.User{ID: fmt.Sprintf("usr_%02d", i), Name: fmt.Sprint("Person ", i)}
		for n, g := range groups[:3] {
			if i%(n+2) == 0 {
				u.Memberships = append(u.Memberships, snapshot.Membership{GroupID: g.ID})
			}
		}
		users = append(users, u)
	}
	s := sourceOf(groups, users)
	var whole strings.Builder
	if err := s.WriteGroups(t.Context(), &whole); err != nil {
		t.Fatal(err)
	}
	var list struct {
		TotalResults int
		Resources    []group
	}
	if err := json.Unmarshal([]byte(whole.String()), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range list.Resources {
		got = append(got, fmt.Sprintf("%s %d", g.ID, len(g.Members)))
	}
	if diff := cmp.Diff([]string{"grp_c 10", "grp_b 15", "grp_all 22", "grp_empty 0"}, got); diff != "" {
		t.Errorf("groups and their members (-want +got):\n%s", diff)
	}
	last := list.Resources[2].Members[20:]
	want := []member{
		{"grp_b", "Groups/grp_b", "Group", "b"},
		{"grp_c", "Groups/grp_c", "Group", "The C"},
	}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("groups in grp_all (-want +got):\n%s", diff)
	}
	if first := list.Resources[0].Members[0]; first != (member{"usr_00", "Users/usr_00", "User", "Person 0"}) {
		t.Errorf("first member of grp_c: %+v", first)
	}
	for _, held := range []int{0, 1, 20, 200, 300, 400} {
		var again strings.Builder
		if err := s.writeGroups(t.Context(), &again, held); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole.String(), again.String()); diff != "" {
			t.Errorf("with %d bytes of members at once (-all +few):\n%s", held, diff)
		}
	}
}

func TestGroups_unknown(t *testing.T) {
	t.Parallel()
	s := sourceOf([]snapshot.Group{{ID: "grp_a", Name: "a"}}, []snapshot.User{
		{ID: "usr_1", Memberships: []snapshot.Membership{{GroupID: "grp_b"}}},
	})
	if err := s.WriteGroups(t.Context(), &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "grp_b") {
		t.Errorf("WriteGroups: %v", err)
	}
}

// A cycle cannot be made, but be written into the documents that verify reads.
func TestInnerFirst(t *testing.T) {
	t.Parallel()
	got := innerFirst([]snapshot.Group{
		{ID: "a", Parents: []string{"b", "gone"}}, {ID: "b", Parents: []string{"a"}}, {ID: "c", Parents: []string{"c"}},
	})
	var ids []string
	for _, g := range got {
		ids = append(ids, g.ID)
	}
	slices.Sort(ids)
	if diff := cmp.Diff([]string{"a", "b", "c"}, ids); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
