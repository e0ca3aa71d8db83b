package client_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
	"postern/testkit"
)

// owner creates the first account and returns the server's address and an access
// token of the account.
func owner(t *testing.T) (server, token string) {
	t.Helper()
	// A sign-in provider proves the address that an invitation is bound to.
	running := startApp(t, "--signin-github-client-id", "test", "--signin-github-client-secret", "test")
	server = running.Config.PublicURL
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	person := &http.Client{Jar: jar}
	form := url.Values{"email": {"ana@example.com"}, "name": {"Ana"}, "password": {"four unrelated words"}}
	answer, err := person.PostForm(running.FirstLink, form)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	answer, err = person.Post(
		server+"/api/v1/tokens",
		"application/json",
		bytes.NewBufferString(`{"name":"test","scopes":["read","write","admin"]}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var made contract.TokenWithSecret
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.Secret == "" {
		t.Fatalf("create a token: %s, %v", answer.Status, err)
	}
	return server, made.Secret.Reveal()
}

func TestCreateProxy_team(t *testing.T) {
	server, token := owner(t)
	api := connect(t, server, token)
	team := newTeam(t, api, "Payments")
	proxy, err := client.Do(t.Context(), api, contract.CreateProxy, contract.NewProxy{
		Target: testkit.NewUpstream(t).URL,
		Name:   "shop",
		Team:   team.ID,
	}.Request())
	if err != nil {
		t.Fatal(err)
	}
	at := contract.ProjectPath{Project: proxy.Project.ID}
	if found, err := client.Do(t.Context(), api, contract.GetProject, at); err != nil || found.Team != team.ID {
		t.Errorf("the project's team is %s, want %s: %v", found.Team, team.ID, err)
	}
}

type listOf[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

func newTeam(t *testing.T, api *client.Client, name string) contract.Team {
	t.Helper()
	in := contract.TeamCreation{Body: contract.NewTeam{Name: name}}
	team, err := client.Do(t.Context(), api, contract.CreateTeam, in)
	if err != nil {
		t.Fatal(err)
	}
	return team
}

func TestIfMatch_team(t *testing.T) {
	server, token := owner(t)
	api := connect(t, server, token)
	before := newTeam(t, api, "Payments")
	rename := func(etag, name string) (contract.Team, error) {
		return client.Do(t.Context(), api, contract.UpdateTeam, contract.TeamUpdate{
			TeamPath:  before.Path(),
			Condition: contract.Condition{IfMatch: etag},
			Body:      contract.TeamChange{Name: &name},
		})
	}
	after, err := rename(before.ETag, "Billing")
	if err != nil {
		t.Fatal(err)
	}
	_, err = rename(before.ETag, "Refunds")
	if fault.KindOf(err) != fault.Stale {
		t.Errorf("change with an old ETag: %v, want a stale one", err)
	}
	if now, err := client.Do(t.Context(), api, contract.GetTeam, before.Path()); err != nil || now != after {
		t.Errorf("the team is called %q, %v", now.Name, err)
	}
	if now, err := rename("", "Refunds"); err != nil || now.Name != "Refunds" {
		t.Errorf("change without an ETag: %q, %v", now.Name, err)
	}
}
