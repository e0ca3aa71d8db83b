package scim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/snapshot"
	"postern/testkit/verifiers"
)

const token = "a-token_of.the~receiver+/=="

// export writes the files of a tenant next to the script, and returns the folder.
func export(t *testing.T, s Source) string {
	t.Helper()
	dir := t.TempDir()
	files := filesOf(t, s)
	for name, text := range map[string]string{
		"users.json": files["users"], "groups.json": files["groups"], "push.sh": Script,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// push runs the script of an export, which must exit with the status. Its pauses are short.
func push(t *testing.T, status int, dir string, args ...string) string {
	t.Helper()
	bin, temporary := t.TempDir(), t.TempDir()
	asleep := "#!/bin/sh\necho \"$1\" >>\"" + bin + "/slept\"\n"
	if err := os.WriteFile(filepath.Join(bin, "sleep"), []byte(asleep), 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(dir, "push.sh")}, args...)...)
	command.Env = append(os.Environ(), "SCIM_TOKEN="+token, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+temporary)
	out, err := command.CombinedOutput()
	if got := command.ProcessState.ExitCode(); got != status {
		t.Fatalf("push.sh exits with %d, want %d: %v\n%s", got, status, err, out)
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("push.sh leaves %s", left[0].Name())
	}
	if strings.Contains(string(out), token) {
		t.Errorf("push.sh prints the token:\n%s", out)
	}
	slept, _ := os.ReadFile(filepath.Join(bin, "slept"))
	return string(out) + "slept: " + strings.Join(strings.Fields(string(slept)), " ") + "\n"
}

func says(t *testing.T, out string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(out, line) {
			t.Errorf("push.sh does not say %q:\n%s", line, out)
		}
	}
}

// resource is a receiver's answer.
type resource struct {
	ID, ExternalID, UserName, DisplayName string
	Active                                *bool
	Name                                  struct{ Formatted string }
	Emails                                []email
	Members                               []member
}

// listOf returns everything of a kind at a receiver, and its whole answer.
func listOf(t *testing.T, url, kind string) ([]resource, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/"+kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Resources []resource }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return list.Resources, string(text)
}

// TestPush pushes hostile users and nested groups to a server that others wrote.
func TestPush(t *testing.T) {
	t.Parallel()
	url := verifiers.ReceiveSCIM(t, token)
	s := hostile(t)[1]
	s.Tenant.Directory.Groups = append(s.Tenant.Directory.Groups, snapshot.Group{ID: "grp_1empty", Name: "empty"})
	dir := export(t, s)
	says(t, push(t, 0, dir, url+"/"), "Users: 5 created, 0 unchanged, 0 failed",
		"Groups: 3 created, 0 unchanged, 0 failed", "Members of groups: 6 added, 0 unchanged, 0 failed")
	users, before := listOf(t, url, "Users")
	groups, groupsBefore := listOf(t, url, "Groups")
	ours := map[string]string{}
	for _, u := range append(users, groups...) {
		ours[u.ID] = u.ExternalID
	}
	var sent struct{ Resources []resource }
	if err := json.Unmarshal([]byte(filesOf(t, s)["users"]), &sent); err != nil {
		t.Fatal(err)
	}
	for i := range users {
		users[i].ID = ours[users[i].ID]
	}
	slices.SortFunc(users, func(a, b resource) int { return strings.Compare(a.ID, b.ID) })
	if diff := cmp.Diff(sent.Resources, users); diff != "" {
		t.Errorf("users (-sent +received):\n%s", diff)
	}
	members := map[string][]string{}
	for _, g := range groups {
		for _, m := range g.Members {
			members[g.ExternalID] = append(members[g.ExternalID], m.Type+" "+ours[m.Value])
		}
		slices.Sort(members[g.ExternalID])
	}
	want := map[string][]string{
		"grp_1inner": {"User usr_a00", "User usr_a01", "User usr_a02", "User usr_a03", "User usr_a04"},
		"grp_1outer": {"Group grp_1inner"},
	}
	if diff := cmp.Diff(want, members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}

	says(t, push(t, 0, dir, url), "Users: 0 created, 5 unchanged, 0 failed",
		"Groups: 0 created, 3 unchanged, 0 failed", "Members of groups: 0 added, 6 unchanged, 0 failed")
	_, after := listOf(t, url, "Users")
	_, groupsAfter := listOf(t, url, "Groups")
	if diff := cmp.Diff(before+groupsBefore, after+groupsAfter); diff != "" {
		t.Errorf("the second push changes something (-before +after):\n%s", diff)
	}
}

// TestBulk_receiver sends the bulk requests of one piece, and of several, after which the
// script puts the members into the groups.
func TestBulk_receiver(t *testing.T) {
	t.Parallel()
	for _, users := range []int{5, 4*PerPiece + 10} {
		t.Run(fmt.Sprint(users), func(t *testing.T) {
			t.Parallel()
			url := verifiers.ReceiveSCIM(t, token)
			groups := three().Tenant.Directory.Groups
			var all []snapshot.User
			for i := range users {
				all = append(all, snapshot.User{
					ID: fmt.Sprintf("usr_%04d", i), Memberships: []snapshot.Membership{{GroupID: "grp_in"}},
				})
			}
			s := sourceOf(groups, all)
			for name, text := range filesOf(t, s) {
				if strings.HasPrefix(name, "bulk") {
					sendBulk(t, url, text)
				}
			}
			there := "0 added, 6 unchanged"
			if users > PerPiece {
				there = fmt.Sprint(users+1, " added, 0 unchanged")
			}
			says(t, push(t, 0, export(t, s), url), fmt.Sprintf("Users: 0 created, %d unchanged", users),
				"Groups: 0 created, 2 unchanged", "Members of groups: "+there)
		})
	}
}

func sendBulk(t *testing.T, url, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/Bulk", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/scim+json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var done struct{ Operations []struct{ Status string } }
	if err := json.NewDecoder(answer.Body).Decode(&done); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("a bulk request is answered %d: %v", answer.StatusCode, err)
	}
	for i, o := range done.Operations {
		if o.Status != "201" {
			t.Fatalf("operation %d is answered %s", i, o.Status)
		}
	}
}

func TestPush_shellcheck(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "shellcheck", "-s", "sh", "-")
	command.Stdin = strings.NewReader(Script)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v (Debian: apt-get install shellcheck)\n%s", err, out)
	}
}

func TestPush_wrongUsage(t *testing.T) {
	t.Parallel()
	dir := export(t, sourceOf(nil, nil))
	for _, args := range [][]string{
		{}, {"ftp://example.com"}, {"https://"}, {"http://a b"}, {"http://a\"\n"}, {"http://$(id)"}, {"http://a", "b"},
		{"-x"},
	} {
		says(t, push(t, 2, dir, args...), "usage: ")
	}
	for _, bad := range []string{"", "a b", "a\"", "a\nb", "a\\"} {
		command := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "push.sh"), "http://127.0.0.1:1")
		command.Env = append(os.Environ(), "SCIM_TOKEN="+bad)
		if out, _ := command.CombinedOutput(); command.ProcessState.ExitCode() != 2 {
			t.Errorf("token %q: exit status %d: %s", bad, command.ProcessState.ExitCode(), out)
		}
	}
	if err := os.Remove(filepath.Join(dir, "groups.json")); err != nil {
		t.Fatal(err)
	}
	says(t, push(t, 1, dir, "http://127.0.0.1:1"), "groups.json is missing")
}
