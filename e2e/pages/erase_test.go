package pages

import (
	"net/http"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// TestProject_deletedPermanently goes from a claimed project to its permanent deletion: its calls get 410 until the job
// has run, and its name can be taken again after that.
func TestProject_deletedPermanently(t *testing.T) {
	t.Parallel()
	upstream, server := testkit.NewUpstream(t), harness.Start(t)
	visitor(t).fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password",
		"four unrelated words")
	made := harness.CreateProxy(t, server.Config.PublicURL, upstream.URL)
	address, key := made.Project.Environments[0].URL, made.APIKeys["prod"].Key.Reveal()

	p := sit(t)
	p.Open(made.Claim.URL)
	p.Sees("Sign in")
	p.Follows("Create an account")
	p.Types("email", "bob@example.com")
	p.Types("name", "Bob")
	p.Types("password", "another four words")
	p.Presses("Create account")
	p.Presses("Claim")
	p.Sees("Projects")
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)

	p.Open(server.Config.PublicURL + "/projects/shop/delete")
	p.Sees("Delete shop")
	p.Types("typed_name", "shop")
	p.Presses("Delete permanently")
	p.Sees("Projects")
	harness.WaitForStatus(t, address, key, http.StatusNotFound)
	again, err := client.Do(t.Context(), harness.Connect(t, server.Config.PublicURL, ""), contract.CreateProxy,
		contract.NewProxy{
			Target: upstream.URL,
			Name:   "shop",
		}.Request())
	if err != nil {
		t.Fatalf("the name of a project that was permanently deleted: %v", err)
	}
	if got := again.Project.Environments[0].URL; got != address {
		t.Errorf("the new project is at %s, want %s", got, address)
	}
}
