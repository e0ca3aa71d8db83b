package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/platform/secrets"
	"postern/testkit"
	"postern/testkit/state"
)

// TestGatewayKey has a gateway with the gateway key serve all that is sealed for it, and open
// nothing else.
func TestGatewayKey(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	s := serveSplit(t, func(string) string { return database })
	upstream := testkit.NewUpstream(t)
	api, proxy := sealEverything(t, s, upstream)
	project := proxy.Project.ID
	base := callAddress(s.gateway, proxy)

	t.Run("the upstream gets header and signature", func(t *testing.T) {
		key, err := client.Do(t.Context(), api, contract.CreateKey, contract.NewKey{Owner: "ana"}.In(project))
		if err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, "header and signature at the upstream", func() (http.Header, bool) {
			harness.WaitForStatus(t, base, key.Secret.Reveal(), http.StatusOK)
			seen := upstream.Requests()
			last := seen[len(seen)-1].Headers
			return last, last.Get("X-Upstream-Key") == "sesame" && last.Get("Signature") != ""
		})
	})
	t.Run("an opaque token is introspected with the secret", func(t *testing.T) {
		for token, want := range map[string]int{"good": http.StatusOK, "bad": http.StatusUnauthorized} {
			if got := answerTo(t, http.MethodGet, base, "Authorization", "Bearer "+token); got != want {
				t.Errorf("%s gets %d, want %d", token, got, want)
			}
		}
	})
	t.Run("every sealed column", func(t *testing.T) { checkGatewayKey(t, database) })
	t.Run("a provider whose tokens callers send", func(t *testing.T) {
		change := contract.ProviderSettings{
			TokenType: contract.NewTokenType{Client: "provider", Upstream: "provider_access_token"},
		}
		of := contract.AppClientPath{Client: proxy.Login.ClientID}
		for provider, err := range client.Each(t.Context(), api, contract.ListProviders, of) {
			if err == nil {
				_, err = client.Do(t.Context(), api, contract.UpdateProvider, change.Of(provider.ID))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		checkGatewayKey(t, database)
	})
	s.gateway.End(t, os.Interrupt)
	if log := s.gateway.Errors.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("the gateway logs\n%s", log)
	}
}

// sealEverything creates a project with secrets of all kinds that need neither an ACME server
// nor a browser.
func sealEverything(t *testing.T, s split, upstream *testkit.Upstream) (*client.Client, contract.Proxy) {
	t.Helper()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		active := user == "postern" && password == "introspect" && r.FormValue("token") == "good"
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"active": %v, "sub": "ana"}`, active)
	}))
	t.Cleanup(endpoint.Close)
	github := func(issuer, tokens, upstream string) contract.NewProvider {
		return contract.NewProvider{Type: "github", Issuer: issuer, ProviderSettings: contract.ProviderSettings{
			ClientID:     new("postern"),
			ClientSecret: new(contract.Secret("from GitHub")),
			TokenType:    contract.NewTokenType{Client: tokens, Upstream: upstream},
		}}
	}
	proxy, err := client.Do(t.Context(), harness.Connect(t, s.control.URL, ""), contract.CreateProxy,
		contract.NewProxy{
			Target: upstream.URL, Name: "shop", RequestsAuth: &contract.NewRequestsAuth{
				Mode:    "authenticate",
				Methods: []string{"api_key", "jwt", "opaque"},
				Opaque: &contract.NewIntrospection{
					Introspection: contract.Introspection{
						Endpoint: endpoint.URL, Method: "client_secret_basic", ClientID: "postern",
					},
					ClientSecret: new(contract.Secret("introspect")),
				},
			},
			Login: &contract.NewLogin{Providers: []contract.NewProvider{github("", "service", "service")}},
		}.Request())
	if err != nil {
		t.Fatal(err)
	}
	api := harness.Connect(t, s.control.URL, proxy.WorkspaceKey.Reveal())
	project := contract.ProjectPath{Project: proxy.Project.ID}
	header := contract.UpstreamHeaderUpdate{
		UpstreamHeaderPath: contract.UpstreamHeaderPath{
			EnvironmentPath: contract.EnvironmentOf(project.Project, "1.0.0", "prod"), Name: "X-Upstream-Key",
		},
		Body: contract.UpstreamHeaderValue{Value: "sesame"},
	}
	if _, err = client.Do(t.Context(), api, contract.SetUpstreamHeader, header); err != nil {
		t.Fatal(err)
	}
	if _, err = client.Do(t.Context(), api, contract.EnableCallSigning, project); err != nil {
		t.Fatal(err)
	}
	chain, key := testkit.Certificate(t, "client.test")
	other := contract.NewEnvironment{Name: "secure", Target: "https://127.0.0.1:9"}.In(project.Project, "1.0.0")
	if _, err = client.Do(t.Context(), api, contract.CreateEnvironment, other); err != nil {
		t.Fatal(err)
	}
	certificate := contract.ClientCertificateUpdate{
		EnvironmentPath: contract.EnvironmentOf(project.Project, "1.0.0", "secure"),
		Body:            contract.NewClientCertificate{Certificate: string(chain), PrivateKey: contract.Secret(key)},
	}
	if _, err = client.Do(t.Context(), api, contract.SetClientCertificate, certificate); err != nil {
		t.Fatal(err)
	}
	if status, body := fetch(t, proxy.Login.Issuer+"/jwks.json"); status != http.StatusOK { // creates the first key
		t.Fatalf("the keys of the login: %d %s", status, body)
	}
	return api, proxy
}

// notFilled are the sealed columns that TestGatewayKey leaves empty, and where they are tested.
var notFilled = map[string]string{
	"acme_accounts.private_key": "needs an ACME server: app/acme_test.go",
	"certificates.private_key":  "needs an ACME server: service/certificates",
	"export_keys.private_key":   "needs a signed export",
	"exports.file_key":          "needs an account that proves its password",
	"import_plans.file":         "needs a claimed team: service/movein",
	"import_plans.set_values":   "needs a claimed team: service/movein",
	"login_attempts.stated":     "needs a browser",
	"login_attempts.ticket":     "needs a browser",
	"login_grants.successor":    "needs a browser",
	"webhooks.old_secret":       "needs a claimed team",
	"webhooks.secret":           "needs a claimed team",
}

// checkGatewayKey walks all sealed columns, and has the gateway key try to unwrap the
// data key of each value.
func checkGatewayKey(t *testing.T, database string) {
	t.Helper()
	vault, err := secrets.NewVault(secrets.Secret(keyOfRole(t, "gateway")))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, column := range state.SealedColumns() {
		name := column.Table + "." + column.Column
		condition := column.Gateways
		if condition == "" {
			condition = "1 = 0"
		}
		rows, err := conn.Query(t.Context(), fmt.Sprintf(
			"SELECT %s, %s FROM %s WHERE %s IS NOT NULL", column.Column, condition, column.Table, column.Column))
		if err != nil {
			t.Fatal(err)
		}
		type sealed struct {
			value       []byte
			forGateways bool
		}
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (one sealed, err error) {
			return one, row.Scan(&one.value, &one.forGateways)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, empty := notFilled[name]; empty != (len(list) == 0) {
			t.Errorf("%s has %d values", name, len(list))
		}
		for _, one := range list {
			key := secrets.DataKey{ID: secrets.Sealed(one.value).DataKeyID()}
			err := conn.QueryRow(t.Context(), "SELECT wrapped, gateway_wrapped FROM data_keys WHERE id = $1", key.ID).
				Scan(&key.Wrapped, &key.GatewayWrapped)
			if err != nil {
				t.Fatal(err)
			}
			switch err := vault.Check(key); {
			case one.forGateways && err != nil:
				t.Errorf("the gateway key does not open %s: %v", name, err)
			case !one.forGateways && !errors.Is(err, secrets.ErrOnlyGateways):
				t.Errorf("the gateway key opens %s: %v", name, err)
			}
		}
	}
}
