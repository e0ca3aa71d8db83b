package pages

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/platform/config"
	"postern/testkit"
)

// TestRename_underLoad renames an environment to and fro while calls with a key that is
// limited to it come at both addresses: each finds the environment or no route, never a
// key that is refused.
func TestRename_underLoad(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { renameUnderLoad(t, "") })
	t.Run("postgres", func(t *testing.T) { renameUnderLoad(t, testkit.Postgres(t)) })
}

func renameUnderLoad(t *testing.T, database string) {
	upstream := testkit.NewUpstream(t)
	server := harness.StartWith(t, func(c *config.Config) { c.DatabaseURL = config.Secret(database) })
	api, err := client.New("http://"+server.Config.ControlAddr, "")
	if err != nil {
		t.Fatal(err)
	}
	in := contract.NewProxy{
		Target:       upstream.URL,
		Name:         "shop",
		RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}
	made, err := client.Do(t.Context(), api, contract.CreateProxy, in.Request())
	if err != nil {
		t.Fatal(err)
	}
	key, address := made.APIKeys["prod"].Key.Reveal(), made.Project.Environments[0].URL
	if api, err = client.New("http://"+server.Config.ControlAddr, made.WorkspaceKey.Reveal()); err != nil {
		t.Fatal(err)
	}
	project, err := client.Do(t.Context(), api, contract.GetProject, contract.ProjectPath{Project: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	environment := contract.EnvironmentOf("shop", "1.0.0", project.Versions[0].Environments[0].ID)
	for i := range 50 { // to be read again at each rename
		owner := fmt.Sprintf("owner-%d", i)
		in := contract.NewKey{Owner: owner, Environment: "prod"}.In("shop")
		if _, err := client.Do(t.Context(), api, contract.CreateKey, in); err != nil {
			t.Fatal(err)
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var callers sync.WaitGroup
	for _, name := range []string{"prod", "live"} {
		at := address[:len(address)-len("prod")] + name
		callers.Go(func() {
			for ctx.Err() == nil {
				if status := statusOf(t, at, key); status != http.StatusOK && status != http.StatusNotFound {
					t.Errorf("%s: %d, want 200 or 404", at, status)
					return
				}
			}
		})
	}
	for i := range 20 {
		name, former := "live", "prod"
		if i%2 == 1 {
			name, former = former, name
		}
		in := contract.EnvironmentUpdate{
			EnvironmentPath: environment, Body: contract.EnvironmentChange{Name: &name},
		}
		if _, err := client.Do(t.Context(), api, contract.UpdateEnvironment, in); err != nil {
			t.Fatal(err)
		}
		base := address[:len(address)-len("prod")]
		if got := statusOf(t, base+name, key); got != http.StatusOK {
			t.Errorf("after rename %d, %s answers %d", i, name, got)
		}
		if got := statusOf(t, base+former, key); got != http.StatusNotFound {
			t.Errorf("after rename %d, the former name %s answers %d", i, former, got)
		}
	}
	stop()
	callers.Wait()
}

// statusOf returns the status of a call with the key.
func statusOf(t *testing.T, address, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, address+"/hello", nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header.Set("X-API-Key", key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}
