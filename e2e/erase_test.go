package e2e

import (
	"net/http"
	"testing"

	"postern/client"
	"postern/testkit"
	"postern/testkit/state"
)

// TestProject_deletedForGood goes from a claimed project to its deletion for good: its calls
// are answered 410 until the job has run, and its name can be taken again after that.
func TestProject_deletedForGood(t *testing.T) {
	t.Parallel()
	state.EachAddress(t, func(t *testing.T, databaseURL string) {
		upstream, server := testkit.NewUpstream(t), start(t, databaseURL)
		visitor(t).fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password",
			"four unrelated words")
		made := createProxy(t, server.Config.PublicURL, upstream.URL)
		address, key := made.Project.Environments[0].URL, made.APIKeys["prod"].Key

		p := sit(t)
		p.open(made.Claim.URL)
		p.sees("Sign in")
		p.follows("Create an account")
		p.types("email", "bob@example.com")
		p.types("name", "Bob")
		p.types("password", "another four words")
		p.presses("Create account")
		p.presses("Claim")
		p.sees("Projects")
		callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)

		p.open(server.Config.PublicURL + "/projects/shop/delete")
		p.sees("Delete shop")
		p.types("typed_name", "shop")
		p.presses("Delete for good")
		p.sees("Projects")
		waitForStatus(t, address, key, http.StatusNotFound)
		again, err := connect(t, server.Config.PublicURL, "").CreateProxy(t.Context(), client.NewProxy{
			Target: upstream.URL,
			Name:   "shop",
		})
		if err != nil {
			t.Fatalf("the name of a project that was deleted for good: %v", err)
		}
		if got := again.Project.Environments[0].URL; got != address {
			t.Errorf("the new project is at %s, want %s", got, address)
		}
	})
}
