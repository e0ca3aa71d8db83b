package bundle_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// withUsers is the sample project with n users of the tenant default, in ten groups.
func withUsers(n int64) bundle.Input {
	in := withPeople()
	directory := in.Project.Tenants[0].Directory
	if in.Project.Tenants[0].Name != "default" {
		directory = in.Project.Tenants[1].Directory
	}
	directory.Users, directory.Groups = n, nil
	for i := range 10 {
		directory.Groups = append(directory.Groups, snapshot.Group{
			ID: fmt.Sprint("grp_", i), Name: fmt.Sprint("g", i), CreatedAt: sample.Base, UpdatedAt: sample.Base,
		})
	}
	few := in.Users
	in.Users = func(ctx context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error] {
		if t.Name != "default" {
			return few(ctx, t)
		}
		return func(yield func(snapshot.User, error) bool) {
			for i := range n {
				u := snapshot.User{
					ID: fmt.Sprintf("usr_%09d", i), Name: "A person", State: "active", CreatedAt: sample.Base,
					UpdatedAt: sample.Base,
					Memberships: []snapshot.Membership{
						{GroupID: fmt.Sprint("grp_", i%10), Role: "member", CreatedAt: sample.Base},
					},
				}
				if !yield(u, nil) {
					return
				}
			}
		}
	}
	return in
}

func TestWrite_scimFiles(t *testing.T) {
	for users, bulk := range map[int64]int{5: 1, 300: 3} {
		data, _ := write(t, withUsers(users))
		if _, err := verify(data); err != nil {
			t.Fatalf("Verify: %v", err)
		}
		names, files := unzip(t, data)
		var got []string
		for _, name := range names {
			if base, ok := strings.CutPrefix(name, bundle.SCIMFolder("default")); ok {
				got = append(got, base)
			}
		}
		want := []string{"groups.json", "push.sh", "users.json"}
		for n := range bulk {
			want = append(want, fmt.Sprintf("bulk-%04d.json", n+1))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d users: files (-want +got):\n%s", users, diff)
		}
		if sections := strings.Count(files["SCHEMA.md"], "## `tenants/default/users/scim/bulk-"); sections != 1 {
			t.Errorf("%d users: %d sections for bulk requests", users, sections)
		}
		again, _ := write(t, withUsers(users))
		if !slices.Equal(data, again) {
			t.Errorf("%d users: two exports of one state differ", users)
		}
	}
}

func TestVerify_changedSCIMFiles(t *testing.T) {
	data, _ := write(t, withUsers(300))
	for name, c := range map[string]change{
		"a user":           {file: "users.json", old: `"active":true`, new: `"active":false`},
		"a member":         {file: "groups.json", old: "usr_000000001", new: "usr_000000002"},
		"a bulk operation": {file: "bulk-0002.json", old: "POST", new: "DELETE"},
		"a script":         {file: "push.sh", old: "umask 077", new: "umask 000"},
	} {
		t.Run(name, func(t *testing.T) {
			names, files := unzip(t, data)
			c.file = bundle.SCIMFolder("default") + c.file
			c.entry, c.says = c.file, "changed after the export"
			(&editable{names: names, files: files}).refusesChange(t, c)
		})
	}
	t.Run("another bulk request", func(t *testing.T) {
		names, files := unzip(t, data)
		e := &editable{names: names, files: files}
		name := bundle.SCIMFolder("default") + "bulk-0004.json"
		e.add(name, "{}\n")
		e.reseal(t)
		refusedAs(t, e.pack(t), name, "added later")
	})
	t.Run("a number of users that nothing can have", func(t *testing.T) {
		names, files := unzip(t, data)
		entry := bundle.SignupFile("default")
		(&editable{names: names, files: files}).refusesChange(t, change{
			entry: entry, says: "more users", file: entry, old: `"users": 300`, new: `"users": 9000000000000000000`,
		})
	})
}

// A pass over the users that a failed export has begun must not go on holding what it reads
// from.
func TestWrite_readingError(t *testing.T) {
	in := withUsers(3000)
	users, open := in.Users, 0
	in.Users = func(ctx context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error] {
		return func(yield func(snapshot.User, error) bool) {
			open++
			defer func() { open-- }()
			users(ctx, t)(yield)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in.Progress = func(part string, done, _ int64) {
		if strings.Contains(part, "scim/bulk-") && done == 1000 {
			cancel()
		}
	}
	if _, err := bundle.Write(ctx, io.Discard, in); err == nil || open != 0 {
		t.Errorf("the export ends with %v and %d open readings", err, open)
	}
}

// The memory of an export does not grow with the number of users.
func TestWrite_streamedUsers(t *testing.T) {
	const users = 200_000
	var most, before uint64
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	in := withUsers(users)
	before = heap()
	in.Progress = func(_ string, done, _ int64) {
		if done%50_000 == 0 {
			most = max(most, heap())
		}
	}
	if _, err := bundle.Write(t.Context(), io.Discard, in); err != nil {
		t.Fatal(err)
	}
	if most == 0 || most > before+40<<20 {
		t.Errorf("the heap grew from %d to %d MB", before>>20, most>>20)
	}
}

// A receiver of SCIM resources knows groups by one name: that of the rules, where a rule requires the group.
func TestSCIMFiles_groupsOfRules(t *testing.T) {
	in := withUsers(5)
	for i := range in.Project.Tenants {
		if d := in.Project.Tenants[i].Directory; d != nil {
			for n := range d.Groups {
				d.Groups[n].DisplayName = "Shown " + d.Groups[n].Name
			}
		}
	}
	in.Project.Versions[0].Rules.List = []snapshot.Rule{
		{ID: "rul_1", Methods: []string{"GET"}, Path: "/staff", Groups: []string{"g3", "gone"}},
	}
	data, _ := write(t, in)
	if _, err := verify(data); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	_, files := unzip(t, data)
	for _, name := range []string{"groups.json", "bulk-0001.json"} {
		text := files[bundle.SCIMFolder("default")+name]
		for group, want := range map[string]string{"grp_3": "g3", "grp_4": "Shown g4"} {
			if line := fmt.Sprintf(`"externalId":%q,"displayName":%q`, group, want); !strings.Contains(text, line) {
				t.Errorf("%s has no %s", name, line)
			}
		}
	}
	if groups := files[bundle.GroupsFile("default")]; !strings.Contains(groups, "Shown g3") {
		t.Error("groups.json lost a display name")
	}
}
