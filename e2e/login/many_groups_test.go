package login

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"postern/client"
	"postern/core/contract"
	"postern/core/policy"
	"postern/e2e/harness"
	"postern/models"
	"postern/testkit"
	"postern/testkit/idp"
)

// groupClaims are the claims on groups of a token.
type groupClaims struct {
	Groups    []string `json:"groups"`
	Truncated bool     `json:"groups_truncated"`
}

// TestLogin_manyGroups signs a user in who is in 1,000 groups: the token has 200 of them, and the gateway knows all.
func TestLogin_manyGroups(t *testing.T) {
	t.Parallel()
	upstream, issuer, app := testkit.NewUpstream(t), idp.StartCertified(t), newApplication(t)
	server := harness.Start(t)
	made, api := gated(t, server.Config.PublicURL, upstream, issuer, app)
	app.scope = "openid groups"
	signsIn(t, issuer, app, *made.Login)
	ana := app.exchange(t, *made.Login)
	user, err := client.Do(t.Context(), api, contract.GetUser, contract.UserPath{User: ana.Subject})
	if err != nil {
		t.Fatal(err)
	}
	db, err := models.Open(t.Context(), server.Config.DatabaseURL.Reveal(), server.Config.SQLitePath())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	joins(t, db, user, 1000)
	// Rules of more than 200 groups, so that none of the first 200 is the one that a route requires.
	rules := contract.Rules{Default: "allow", Mode: "enforce"}
	for n := range 1000 {
		rules.List = append(rules.List, contract.Rule{
			Methods: []string{"GET"}, Path: fmt.Sprintf("/group-%d", n), Groups: []string{groupOf(n)},
		})
	}
	rules.List = append(rules.List, contract.Rule{
		Methods: []string{"GET"}, Path: "/other", Groups: []string{"others"},
	})
	project, version := made.Project.Name, made.Project.Version
	if _, err := client.Do(t.Context(), api, contract.SetRules, contract.RulesUpdate{
		VersionPath: contract.VersionPath{ProjectPath: contract.ProjectPath{Project: project}, Version: version},
		Body:        rules,
	}); err != nil {
		t.Fatal(err)
	}
	comesBack(t, issuer, app, *made.Login)
	ana = app.exchange(t, *made.Login)

	parsed, err := jwt.ParseSigned(ana.access, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatal(err)
	}
	var said groupClaims
	if err := parsed.UnsafeClaimsWithoutVerification(&said); err != nil { // exchange has verified it
		t.Fatal(err)
	}
	last := groupOf(999)
	if len(said.Groups) != 200 || !said.Truncated || strings.Contains(strings.Join(said.Groups, " "), last) {
		t.Fatalf("the token has %d groups, truncated %t: %v", len(said.Groups), said.Truncated, said.Groups)
	}
	address := made.Project.Environments[0].URL
	if status, code := callWith(t, address+"/group-999", ana.access); status != http.StatusOK {
		t.Fatalf("the last group: %d %s, want 200", status, code)
	}
	seen := upstream.Requests()
	headers := seen[len(seen)-1].Headers
	groups := headers.Get("X-Consumer-Groups")
	if len(groups) == 0 || len(groups) > policy.MaxGroups || headers.Get("X-Consumer-Groups-Truncated") != "true" {
		t.Errorf("the upstream gets %d bytes of groups, truncated %q", len(groups),
			headers.Get("X-Consumer-Groups-Truncated"))
	}
	status, code := callWith(t, address+"/other", ana.access)
	if status != http.StatusForbidden || code != "not_in_group" {
		t.Errorf("a group that the user is not in: %d %s", status, code)
	}
}

// groupOf returns the name of a group, whose names sort by number.
func groupOf(n int) string { return fmt.Sprintf("group-of-a-large-directory-%04d", n) }

// joins puts a user into new groups. A workspace that no one has claimed may create fewer than these by the API.
func joins(t *testing.T, db *models.DB, user contract.User, count int) {
	t.Helper()
	now := models.Now()
	var groups []models.UserGroup
	var members []models.GroupMember
	for n := range count {
		id := models.NewID("grp")
		groups = append(groups, models.UserGroup{
			ID: id, TenantID: user.Tenant, Name: groupOf(n), CreatedAt: now, UpdatedAt: now,
		})
		members = append(members, models.GroupMember{GroupID: id, UserID: user.ID, Role: "member", CreatedAt: now})
	}
	if err := db.Write(t.Context(), func(tx *models.Tx) error {
		for n := 0; n < count; n += 500 { // a statement has a limit of parameters
			some, theirs := groups[n:n+500], members[n:n+500]
			if err := tx.Insert(&some, &theirs); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
