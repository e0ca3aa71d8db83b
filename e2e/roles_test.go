package e2e

import (
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/platform/secrets"
	"postern/testkit"
	"postern/testkit/ports"
)

// split is one installation in three processes, one for each role.
type split struct {
	control, gateway, worker *harness.Process
	listeners                map[string]roleAddresses // by role
}

// roleAddresses are the addresses that a process is configured with, whether it listens there
// or not.
type roleAddresses struct{ control, gateway, admin string }

// serveSplit starts the processes, each with its own data directory, on the database that databaseOf returns for its
// role. The gateway has the gateway key alone.
func serveSplit(t *testing.T, databaseOf func(role string) string) split {
	t.Helper()
	s, exports := split{listeners: map[string]roleAddresses{}}, t.TempDir()
	roles := []string{"control", "gateway", "worker"}
	for _, role := range roles {
		s.listeners[role] = roleAddresses{ports.Address(t), ports.Address(t), ports.Address(t)}
	}
	public, callers := "http://"+s.listeners["control"].control, "http://"+s.listeners["gateway"].gateway
	for i, into := range []**harness.Process{&s.control, &s.gateway, &s.worker} {
		role := roles[i]
		own := s.listeners[role]
		p := harness.Launch(t, nil, t.TempDir(), databaseOf(role), "POSTERN_ROLES="+role,
			"POSTERN_CONTROL_ADDR="+own.control,
			"POSTERN_GATEWAY_ADDR="+own.gateway,
			"POSTERN_ADMIN_ADDR="+own.admin,
			"POSTERN_PUBLIC_URL="+public,
			"POSTERN_GATEWAY_URL="+callers,
			"POSTERN_SECRETS_KEY="+keyOfRole(t, role),
			"POSTERN_BLOB_URL=file://"+exports,
		)
		p.URL, p.Gateway = public, callers
		ready(t, p, "http://"+own.admin)
		*into = p
	}
	return s
}

// keyOfRole returns the secrets key that a role needs.
func keyOfRole(t *testing.T, role string) string {
	t.Helper()
	if role != "gateway" {
		return secretsKey
	}
	key, err := secrets.GatewayKeys(secretsKey)
	if err != nil {
		t.Fatal(err)
	}
	return key.Reveal()
}

// ready returns when /readyz of the address answers 200.
func ready(t *testing.T, p *harness.Process, address string) {
	t.Helper()
	testkit.Eventually(t, "200 from "+address+"/readyz", func() bool {
		select {
		case <-p.Gone:
			t.Fatalf("postern serve ended:\n%s", p.Errors)
		default:
		}
		return answersOK(t, address+"/readyz") == nil
	})
}

func TestRoles(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	s := serveSplit(t, func(string) string { return database })
	proxy := newProxy(t, s.control.URL)
	api := harness.Connect(t, s.control.URL, proxy.WorkspaceKey.Reveal())

	t.Run("a change at the control plane is served by the gateway", func(t *testing.T) {
		in := contract.NewKey{Owner: "billing"}.In(proxy.Project.ID)
		key, err := client.Do(t.Context(), api, contract.CreateKey, in)
		if err != nil {
			t.Fatal(err)
		}
		harness.WaitForStatus(t, callAddress(s.gateway, proxy), key.Secret.Reveal(), http.StatusOK)
		if _, err := client.Do(t.Context(), api, contract.RevokeKey, key.Path()); err != nil {
			t.Fatal(err)
		}
		harness.WaitForStatus(t, callAddress(s.gateway, proxy), key.Secret.Reveal(), http.StatusUnauthorized)
	})
	t.Run("an export is built by the worker", func(t *testing.T) {
		in := contract.NewExport{Format: "data"}.In(proxy.Project.ID)
		export, err := client.Do(t.Context(), api, contract.CreateExport, in)
		if err != nil {
			t.Fatal(err)
		}
		harness.WaitForExport(t, api, export.ID)
	})
	t.Run("calls of the gateway are in the usage of the control plane", func(t *testing.T) {
		waitForUsage(t, api, proxy.Project.ID)
	})
	t.Run("the control plane says that it has no log of requests", func(t *testing.T) {
		found, err := client.Do(t.Context(), api, contract.ListRequests, contract.RequestList{
			ProjectPath: contract.ProjectPath{Project: proxy.Project.ID},
		})
		if err != nil || !found.NoGateway || len(found.Items) > 0 {
			t.Errorf("got %+v, %v", found, err)
		}
	})
	t.Run("each process has the listeners of its role", func(t *testing.T) {
		for role, at := range s.listeners {
			for listener, address := range map[string]string{"control": at.control, "gateway": at.gateway} {
				conn, err := net.Dial("tcp", address)
				if err == nil {
					_ = conn.Close()
				}
				if listens := err == nil; listens != (listener == role) {
					t.Errorf("%s listens at its --%s-addr: %v", role, listener, listens)
				}
			}
			if status, body := fetch(t, "http://"+at.admin+"/readyz"); status != http.StatusOK ||
				!strings.Contains(string(body), "roles: "+role+"\n") {
				t.Errorf("/readyz of %s: %d %q", role, status, body)
			}
			_, metrics := fetch(t, "http://"+at.admin+"/metrics")
			if !strings.Contains(string(metrics), `roles="`+role+`"`) {
				t.Errorf("the metrics of %s do not name its role", role)
			}
		}
	})
	for role, p := range map[string]*harness.Process{"control": s.control, "gateway": s.gateway, "worker": s.worker} {
		p.End(t, syscall.SIGTERM)
		if code := p.Command.ProcessState.ExitCode(); code != 0 || strings.Contains(p.Errors.String(), "level=ERROR") {
			t.Errorf("%s ended with %d:\n%s", role, code, p.Errors)
		}
	}
}

// waitForUsage returns when the calls of a project are counted.
func waitForUsage(t *testing.T, api *client.Client, project string) {
	t.Helper()
	testkit.Eventually(t, "a call in the usage", func() bool {
		usage, err := client.Do(t.Context(), api, contract.GetUsage, contract.UsageQuery{
			ProjectPath: contract.ProjectPath{Project: project}, GroupBy: []string{"hour"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return usage.Total.Calls > 0
	})
}
