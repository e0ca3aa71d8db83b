package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/idp"
)

// rolesFile has the roles of PostgreSQL and their rights.
const rolesFile = "../deploy/postgresql/roles.sql"

// databaseRoles are the addresses of a migrated database for each role of rolesFile.
type databaseRoles struct{ superuser, owner, control, gateway, worker string }

// of returns the address for a role of the server.
func (d databaseRoles) of(role string) string {
	return map[string]string{"control": d.control, "gateway": d.gateway, "worker": d.worker}[role]
}

// newDatabaseRoles creates a database, has the owner migrate it, and applies rolesFile. Roles
// belong to the whole server: no two tests may use them at once.
func newDatabaseRoles(t *testing.T) databaseRoles {
	t.Helper()
	t.Cleanup(func() { // after the database is gone, in which the roles have rights
		for _, role := range []string{"owner", "control", "gateway", "worker"} {
			execute(t, testkit.PostgresURL(t), "DROP ROLE IF EXISTS postern_"+role)
		}
	})
	d := databaseRoles{superuser: testkit.Postgres(t)}
	password := rand.Text()
	address := func(role string) string {
		u, err := url.Parse(d.superuser)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword("postern_"+role, password)
		return u.String()
	}
	d.owner, d.control = address("owner"), address("control")
	d.gateway, d.worker = address("gateway"), address("worker")
	execute(t, d.superuser, fmt.Sprintf(
		"CREATE ROLE postern_owner LOGIN PASSWORD '%s'", password))
	out, err := tryMigrate(t, d.owner)
	if err == nil || !strings.Contains(string(out), "GRANT CREATE ON SCHEMA public") {
		t.Errorf("a role that may not create tables: %v\n%s", err, out)
	}
	execute(t, d.superuser, "GRANT CREATE ON SCHEMA public TO postern_owner")
	migrate(t, d.owner)
	text, err := os.ReadFile(rolesFile)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // an upgrade runs it again
		execute(t, d.superuser, "BEGIN;"+string(text)+"COMMIT;")
	}
	for _, role := range []string{"control", "gateway", "worker"} {
		execute(t, d.superuser, fmt.Sprintf("ALTER ROLE postern_%s PASSWORD '%s'", role, password))
	}
	return d
}

// execute runs statements, which are separated by semicolons.
func execute(t *testing.T, databaseURL, statements string) {
	t.Helper()
	if err := tryExecute(t, databaseURL, statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

func tryExecute(t *testing.T, databaseURL, statements string) error {
	t.Helper()
	ctx := context.Background() // a cleanup may call this
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	return err
}

func migrate(t *testing.T, databaseURL string) {
	t.Helper()
	if out, err := tryMigrate(t, databaseURL); err != nil {
		t.Fatalf("postern migrate: %v\n%s", err, out)
	}
}

func tryMigrate(t *testing.T, databaseURL string) (out []byte, err error) {
	t.Helper()
	command := exec.Command(harness.Program(t), "migrate", "--data-dir", t.TempDir())
	command.Env = append(os.Environ(), "POSTERN_DATABASE_URL="+databaseURL)
	return command.CombinedOutput()
}

// TestDatabaseRoles runs each role of the server as the role of PostgreSQL that is documented
// for it.
func TestDatabaseRoles(t *testing.T) {
	database := newDatabaseRoles(t)
	s := serveSplit(t, database.of)
	upstream := testkit.NewUpstream(t)
	signer := idp.KeyOf(jose.RS256, "r")
	issuer := idp.StartIssuer(t, time.Now(), signer)
	proxy, err := client.Do(t.Context(), harness.Connect(t, s.control.URL, ""), contract.CreateProxy,
		contract.NewProxy{
			Target: upstream.URL, Name: "shop", RequestsAuth: &contract.NewRequestsAuth{
				Mode:    "authenticate",
				Methods: []string{"api_key", "jwt"},
				JWT: &contract.JWT{
					AllowedPairs: []contract.TokenIssuer{{Issuer: issuer.URL, Audience: idp.Audience}},
				},
			},
			Login: &contract.NewLogin{Providers: []contract.NewProvider{{
				Type: "github",
				ProviderSettings: contract.ProviderSettings{
					ClientID: new("postern"), ClientSecret: new(contract.Secret("from GitHub")),
				},
			}}},
		}.Request())
	if err != nil {
		t.Fatal(err)
	}
	project := proxy.Project.ID
	api := harness.Connect(t, s.control.URL, proxy.WorkspaceKey.Reveal())
	keys := map[string]string{}
	for _, owner := range []string{"ana", "ben"} {
		key, err := client.Do(t.Context(), api, contract.CreateKey, contract.NewKey{Owner: owner}.In(project))
		if err != nil {
			t.Fatal(err)
		}
		keys[owner] = key.Secret.Reveal()
	}
	base := strings.TrimSuffix(callAddress(s.gateway, proxy), "/hello")

	t.Run("keys and tokens", func(t *testing.T) {
		harness.WaitForStatus(t, base+"/hello", keys["ana"], http.StatusOK)
		harness.WaitForStatus(t, base+"/hello", "pst_none", http.StatusUnauthorized)
		token := signer.Sign(t, nil, issuer.Claims())
		if got := answerTo(t, http.MethodGet, base+"/hello", "Authorization", "Bearer "+token); got != http.StatusOK {
			t.Errorf("a token gets %d", got)
		}
	})
	t.Run("credentials for upstreams", func(t *testing.T) {
		in := contract.UpstreamHeaderUpdate{
			UpstreamHeaderPath: contract.UpstreamHeaderPath{
				EnvironmentPath: contract.EnvironmentOf(project, "1.0.0", "prod"), Name: "X-Upstream-Key",
			},
			Body: contract.UpstreamHeaderValue{Value: "sesame"},
		}
		if _, err := client.Do(t.Context(), api, contract.SetUpstreamHeader, in); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the header at the upstream", func() bool {
			harness.WaitForStatus(t, base+"/hello", keys["ana"], http.StatusOK)
			seen := upstream.Requests()
			return seen[len(seen)-1].Headers.Get("X-Upstream-Key") == "sesame"
		})
	})
	t.Run("ownership", func(t *testing.T) { rememberOwner(t, api, project, base, keys) })
	t.Run("limits", func(t *testing.T) {
		in := contract.ProjectUpdate{
			ProjectPath: contract.ProjectPath{Project: project},
			Body: contract.ProjectChange{
				Limits: contract.ProjectLimitsChange{Owner: &contract.Limits{"hour": 2}},
			},
		}
		if _, err := client.Do(t.Context(), api, contract.UpdateProject, in); err != nil {
			t.Fatal(err)
		}
		harness.WaitForStatus(t, base+"/hello", keys["ana"], http.StatusTooManyRequests)
	})
	t.Run("usage", func(t *testing.T) {
		waitForUsage(t, api, project)
		wantRow(t, database.superuser, "SELECT FROM api_keys WHERE owner = 'ana' AND last_used_at IS NOT NULL")
		wantRow(t, database.superuser, "SELECT FROM limit_counts")
		wantRow(t, database.superuser, "SELECT FROM usage_traffic")
	})
	t.Run("exports", func(t *testing.T) {
		in := contract.NewExport{Format: "data"}.In(project)
		export, err := client.Do(t.Context(), api, contract.CreateExport, in)
		if err != nil {
			t.Fatal(err)
		}
		harness.WaitForExport(t, api, export.ID)
	})
	for role, p := range map[string]*harness.Process{"control": s.control, "gateway": s.gateway, "worker": s.worker} {
		p.End(t, os.Interrupt)
		log := p.Errors.String()
		if strings.Contains(log, "permission denied") || strings.Contains(log, "level=ERROR") {
			t.Errorf("%s lacks a right:\n%s", role, log)
		}
	}
	t.Run("what a gateway may not do", func(t *testing.T) { refuseStatements(t, database.gateway, gatewayMayNot) })
	t.Run("what a gateway may read where it is in use", func(t *testing.T) {
		for _, query := range gatewayMay {
			execute(t, database.gateway, query)
		}
	})
	for role, address := range map[string]string{"control": database.control, "worker": database.worker} {
		t.Run("what "+role+" may not do", func(t *testing.T) { refuseStatements(t, address, noneMay) })
	}
	refuseStatements(t, database.control, []string{"DELETE FROM audit_entries"})
	t.Run("a schema that is behind, and missing rights", func(t *testing.T) { refuseSchemas(t, database) })
}

// refuseSchemas has processes find a schema that is not theirs, or too few rights in it.
func refuseSchemas(t *testing.T, database databaseRoles) {
	t.Helper()
	const lacksSelect, behind = "deploy/postgresql/roles.sql", "run `postern migrate` as the owner of its tables"
	wantRefused(t, "control", emptyFor(t, database.control), "the database doesn't have Postern's tables yet")
	execute(t, database.superuser, "REVOKE SELECT ON versions FROM postern_gateway")
	wantRefused(t, "gateway", database.gateway, lacksSelect)
	execute(t, database.superuser, "DELETE FROM goose_db_version WHERE version_id > 0")
	wantRefused(t, "control", database.control, behind)
	wantRefused(t, "worker", database.worker, behind)
}

// emptyFor returns the address of an empty database for the role of another address.
func emptyFor(t *testing.T, databaseURL string) string {
	t.Helper()
	empty, err := url.Parse(testkit.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	role, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	empty.User = role.User
	return empty.String()
}

// rememberOwner has a gateway remember the owner of an order, and refuse it to others.
func rememberOwner(t *testing.T, api *client.Client, project, base string, keys map[string]string) {
	t.Helper()
	_, err := client.Do(t.Context(), api, contract.SetRules, contract.RulesUpdate{
		VersionPath: contract.VersionPath{ProjectPath: contract.ProjectPath{Project: project}, Version: "1.0.0"},
		Body: contract.Rules{Default: "allow", Mode: "enforce", List: []contract.Rule{
			{Methods: []string{"PUT"}, Path: "/orders/{id}", Remember: "order:{id}"},
			{Methods: []string{"GET"}, Path: "/orders/{id}", Owner: "order:{id}"},
			{Methods: []string{"GET"}, Path: "/staff", Groups: []string{"staff"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	harness.WaitForStatus(t, base+"/orders/7", keys["ana"], http.StatusForbidden)
	if got := answerTo(t, http.MethodPut, base+"/orders/7", "X-API-Key", keys["ana"]); got != http.StatusOK {
		t.Fatalf("PUT gets %d", got)
	}
	harness.WaitForStatus(t, base+"/orders/7", keys["ana"], http.StatusOK)
	harness.WaitForStatus(t, base+"/orders/7", keys["ben"], http.StatusForbidden)
	// An answer waits for half a second at most until its relation is in the database.
	testkit.Eventually(t, "the owner that the gateway remembered at the control plane", func() bool {
		in := contract.RelationList{ProjectPath: contract.ProjectPath{Project: project}}
		for relation, err := range client.Each(t.Context(), api, contract.ListRelations, in) {
			if err != nil {
				t.Fatal(err)
			}
			if relation.Object == "order:7" && relation.User == "ana" {
				return true
			}
		}
		return false
	})
}

func answerTo(t *testing.T, method, address, header, value string) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(header, value)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func wantRow(t *testing.T, databaseURL, query string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	testkit.Eventually(t, "a row of "+query, func() (found bool) {
		if err := conn.QueryRow(t.Context(), "SELECT EXISTS ("+query+")").Scan(&found); err != nil {
			t.Fatal(err)
		}
		return found
	})
}

// noneMay are statements that only the owner of the tables may run.
var noneMay = []string{
	"UPDATE audit_entries SET actor = 'forged'",
	"TRUNCATE audit_entries",
	"UPDATE schema_compatibility SET oldest = 1",
	"INSERT INTO goose_db_version (version_id, is_applied) VALUES (1, true)",
	"CREATE TABLE public.mine (id text)",
	"ALTER TABLE projects ADD COLUMN mine text",
	"DROP TABLE projects",
}

// gatewayMayNot are statements that the role of gateways is refused: reading what proves
// who people are, secrets that gateways do not use and the audit log, and writing what is
// configured.
var gatewayMayNot = append([]string{
	"SELECT password_hash FROM accounts",
	"SELECT email FROM accounts",
	"SELECT hash FROM tokens",
	"SELECT hash FROM access_tokens",
	"SELECT device_hash FROM device_grants",
	"SELECT code_hash FROM invitations",
	"SELECT claim_code_hash FROM teams",
	"SELECT cookie_hash FROM login_sessions",
	"SELECT hash FROM login_grants",
	"SELECT secret_hash FROM app_clients",
	"SELECT private_key FROM signing_keys",
	"SELECT private_key FROM export_keys",
	"SELECT file_key FROM exports",
	"SELECT private_key FROM acme_accounts",
	"SELECT secret FROM webhooks",
	"SELECT email FROM end_users",
	"SELECT id FROM audit_entries",
	"SELECT hash FROM audit_chains",
	"SELECT args FROM river_job",
	"INSERT INTO api_keys (id) VALUES ('key_1')",
	"UPDATE api_keys SET state = 'active'",
	"UPDATE api_keys SET hash = old_hash",
	"DELETE FROM api_keys",
	"UPDATE projects SET team_id = ''",
	"UPDATE environments SET target = 'http://127.0.0.1'",
	"UPDATE versions SET requests_auth = '{}'",
	"INSERT INTO data_keys (id) VALUES ('dek_1')",
	"UPDATE data_keys SET wrapped = ''",
	"UPDATE certificates SET chain = ''",
	"INSERT INTO memberships (team_id) VALUES ('')",
	"INSERT INTO audit_entries (id) VALUES ('aud_1')",
	"DELETE FROM audit_entries",
	"UPDATE relations SET \"user\" = 'me'",
	"UPDATE revisions SET project_id = ''",
	"DELETE FROM revisions",
	"DELETE FROM usage_hours",
	"DELETE FROM relation_misses WHERE day < 0",
	"DELETE FROM shadow_refusals WHERE day < 0",
	"DELETE FROM invalid_requests WHERE day < 0",
	"SELECT * FROM target_health",
	"INSERT INTO river_job (kind) VALUES ('purge')",
}, noneMay...)

// gatewayMay are the queries of a gateway whose features the test does not use.
var gatewayMay = []string{
	`SELECT end_users.id, end_users.state FROM end_users JOIN identities ON identities.user_id = end_users.id
		WHERE identities.tenant_id = '' AND identities.issuer = '' AND identities.subject = ''`,
	"SELECT id FROM end_users WHERE state = 'frozen' AND updated_at > now() AND groups_left_at > now()",
	"SELECT * FROM group_members JOIN user_groups ON user_groups.id = group_members.group_id",
	"SELECT * FROM group_groups, group_owners",
	"SELECT * FROM providers, certificates, deleted_users, domains",
	"SELECT public_key FROM acme_accounts WHERE directory = ''",
	"SELECT id FROM login_sessions WHERE barred_until > now() AND client_id = ''",
	"DELETE FROM relations WHERE project_id = ''",
	"INSERT INTO usage_log (id, written_at, sums, payload) VALUES ('ulg_1', 0, 0, '')",
	"INSERT INTO gateways (id, seen_at) VALUES ('gwy_1', now())",
	"UPDATE gateways SET seen_at = now() WHERE id = 'gwy_1'",
	`INSERT INTO target_reports (gateway_id, environment_id, target, project_id, state, reason, since)
		VALUES ('gwy_1', 'env_1', 'a.example', 'prj_1', 'unhealthy', '', now())`,
	"DELETE FROM target_reports WHERE gateway_id = 'gwy_1'",
	"DELETE FROM gateways WHERE id = 'gwy_1'",
}

func refuseStatements(t *testing.T, databaseURL string, statements []string) {
	t.Helper()
	for _, statement := range statements {
		err := tryExecute(t, databaseURL, statement)
		if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != "42501" {
			t.Errorf("%s: %v, want insufficient_privilege", statement, err)
		}
	}
}

// wantRefused has a process end because of the database, and say what to do.
func wantRefused(t *testing.T, role, database, says string) {
	t.Helper()
	p := harness.Launch(t, nil, t.TempDir(), database,
		"POSTERN_ROLES="+role,
		"POSTERN_PUBLIC_URL=http://localhost:1",
		"POSTERN_GATEWAY_URL=http://localhost:2",
		"POSTERN_SECRETS_KEY="+keyOfRole(t, role),
	)
	select {
	case <-p.Gone:
	case <-time.After(harness.StartWithin):
		t.Fatalf("%s has started", role)
	}
	log := strings.TrimSpace(p.Errors.String())
	if p.Command.ProcessState.ExitCode() != 1 || !strings.Contains(log, says) {
		t.Errorf("%s ended with %d and %q, want %q", role, p.Command.ProcessState.ExitCode(), log, says)
	}
}

// A gateway never creates the schema, whatever its role may do.
func TestGateway_emptyDatabase(t *testing.T) {
	t.Parallel()
	wantRefused(t, "gateway", testkit.Postgres(t), "the database doesn't have Postern's tables yet")
}
