package bundle_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// withPeople is the sample project with app clients and users.
func withPeople() bundle.Input {
	in := sampleInput()
	in.Users = sample.People(in.Project)
	return in
}

func TestWrite_people(t *testing.T) {
	data, _ := write(t, withPeople())
	report, err := verify(data)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	if got := report.Manifest.Counts.Users; got != 7 {
		t.Errorf("the manifest counts %d users, want 7", got)
	}
	_, files := unzip(t, data)
	for name, want := range map[string]string{
		"tenants/default/users/users.jsonl":   `"id":"usr_a01","email":"","email_verified":false`,
		"tenants/default/users/signup.json":   `"value": "example.com"`,
		"tenants/acme/users/groups.json":      `"id": "grp_2inner"`,
		"tenants/default/auth/clients.json":   `"com.example.app:/back"`,
		"tenants/default/auth/providers.json": `"has_client_secret": true`,
		"MIGRATION-REPORT.json":               `"title":"Users","name":"default: 5 users","status":"exact"`,
		"tenants/acme/auth/clients.json":      `"secret_sha256": "` + strings.Repeat("0", 64),
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not contain %s", name, want)
		}
	}
	again, _ := write(t, withPeople())
	if diff := cmp.Diff(data, again); diff != "" {
		t.Error("two exports of one state differ")
	}
}

// Without consumers nothing names a user, a group, or who may join.
func TestWrite_withoutConsumers(t *testing.T) {
	in := withPeople()
	in.Options.Consumers = false
	data, _ := write(t, in)
	if _, err := verify(data); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	_, files := unzip(t, data)
	for name, text := range files {
		for _, one := range []string{"usr_a0", "grp_1", "apr_1", "a0@example.com", "example.com\""} {
			if strings.Contains(text, one) {
				t.Errorf("%s has %s", name, one)
			}
		}
	}
	if !strings.Contains(files["MIGRATION-REPORT.json"], "data.users.left_out") {
		t.Error("the ledger does not say that users were left out")
	}
}

// An error of the row reader ends the export: a zip with missing rows would verify.
func TestWrite_unorderedUsers(t *testing.T) {
	user := func(id string) snapshot.User { return snapshot.User{ID: id, State: "active"} }
	for name, users := range map[string][]snapshot.User{
		"twice":    {user("usr_a"), user("usr_a")},
		"disorder": {user("usr_b"), user("usr_a")},
		"too few":  {user("usr_a")},
		"an id":    {user("usr_a"), user("../x")},
	} {
		in := withPeople()
		in.Project.Tenants[1].Directory.Users = 2
		in.Users = sample.Users(map[string][]snapshot.User{"tnt_1": users, "tnt_2": {}})
		in.Project.Tenants[0].Directory = nil
		if _, err := bundle.Write(t.Context(), failing{nil}, in); err == nil ||
			!strings.Contains(err.Error(), "read users") && !strings.Contains(err.Error(), "there are 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
