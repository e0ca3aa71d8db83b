//go:build conformance

package conformance

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/app"
	"postern/client"
	"postern/core/contract"
	"postern/models"
	"postern/platform/config"
	"postern/service/access"
	"postern/service/tokens"
)

// The rules that follow from documents of real services, enforced and exported by the product itself,
// refuse the same calls on Kong.
func TestConformanceOpenAPI(t *testing.T) {
	files, err := filepath.Glob("../../core/openapi/testdata/*.gz")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	total := map[int]int{}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(name, func(t *testing.T) {
			up := newUpstream(t)
			service := enforceDocument(t, up, file)
			if name == "meilisearch" { // all its scopes have a "*", which no scope of a rule has
				if len(service.rules) > 0 || len(service.leftOut) == 0 {
					t.Errorf("%d rules, %d operations left out", len(service.rules), len(service.leftOut))
				}
				return
			}
			kong, _ := startKong(t, service.export, up)
			equal := run(t, service.calls(), declarations(t, service.export), service.postern, kong)
			for status, calls := range equal {
				total[status] += calls
			}
			if equal[http.StatusOK] == 0 || equal[http.StatusForbidden] == 0 || equal[http.StatusUnauthorized] == 0 {
				t.Errorf("these calls show too little: %v", equal)
			}
		})
	}
	t.Logf("equal by status: %v", total)
}

// documented is a project that was made of a document, and its exported gateway.
type documented struct {
	postern *peer
	export  string
	rules   []contract.Rule
	leftOut []contract.OperationWithoutRule
	callers map[string][]string
}

// maxDocumentedRules bounds the rules of a document that are called.
const maxDocumentedRules = 30

// enforceDocument creates a project from a document, enforces the rules that follow from it, and exports it.
func enforceDocument(t *testing.T, up *upstream, file string) documented {
	server := startProduct(t)
	api := apiOf(t, server, accountToken(t, server))
	made, err := client.Do(t.Context(), api, contract.CreateProxy, contract.NewProxy{
		Target:       up.url,
		Name:         "shop",
		Version:      "1.0.0",
		RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
	if err != nil {
		t.Fatal(err)
	}
	version := contract.VersionPath{ProjectPath: contract.ProjectPath{Project: "shop"}, Version: "1.0.0"}
	in := contract.OpenAPIUpdate{VersionPath: version}
	in.SetText(gunzipped(t, file))
	if _, err := client.Do(t.Context(), api, contract.SetOpenAPIDocument, in); err != nil {
		t.Fatal(err)
	}
	proposed, err := client.Do(t.Context(), api, contract.ProposeRules, version)
	if err != nil {
		t.Fatal(err)
	}
	if len(proposed.Rules) == 0 {
		return documented{leftOut: proposed.LeftOut}
	}
	for i := range proposed.Rules {
		proposed.Rules[i].Mode = "" // shadow
	}
	rules, err := client.Do(t.Context(), api, contract.SetRules, contract.RulesUpdate{
		VersionPath: version, Body: contract.Rules{Mode: "enforce", Default: "deny", List: proposed.Rules},
	})
	if err != nil {
		t.Fatal(err)
	}
	out := documented{rules: rules.List, callers: map[string][]string{
		"no one": nil, "full": {"X-API-Key: " + made.APIKeys["prod"].Key.Reveal()},
		"read-only": {"X-API-Key: " + mint(t, api, "read-only")},
	}}
	// Scopes that no key type can have, such as addresses, are open to the key with all scopes alone.
	for n, rule := range []contract.Rule{rules.List[0], rules.List[len(rules.List)/2]} {
		name := fmt.Sprintf("of-rule-%d", n)
		_, err := client.Do(t.Context(), api, contract.CreateKeyType, contract.KeyTypeCreation{
			ProjectPath: contract.ProjectPath{Project: "shop"},
			Body:        contract.NewKeyType{Name: name, Scopes: rule.Scopes},
		})
		if err != nil {
			t.Logf("no key type can have the scopes %v: %v", rule.Scopes, err)
			continue
		}
		out.callers[name] = []string{"X-API-Key: " + mint(t, api, name)}
	}
	address, err := url.Parse(server.Config.GatewayURL)
	if err != nil {
		t.Fatal(err)
	}
	out.postern = &peer{name: "postern", addr: "127.0.0.1:" + address.Port(), up: up}
	out.export = exported(t, api)
	return out
}

// accountToken returns an access token of a new account with a team: without an account, documents have 1 MB at most.
func accountToken(t *testing.T, server *app.App) string {
	t.Helper()
	db, err := models.Open(t.Context(), "", server.Config.SQLitePath())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "acme", ClaimedAt: &now, CreatedAt: now}
	account := models.Account{
		ID: models.NewID("acc"), Email: "ana@example.com", Name: "Ana", PasswordHash: "none", CreatedAt: now,
	}
	owns := models.Membership{TeamID: team.ID, AccountID: account.ID, Role: string(access.Owner), CreatedAt: now}
	err = db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&team, &account, &owns) })
	if err != nil {
		t.Fatal(err)
	}
	principal := access.Principal{
		Account: account.ID, Roles: map[string]access.Role{team.ID: access.Owner}, HomeTeam: team.ID,
	}
	var scopes []string
	for _, scope := range access.Scopes() {
		scopes = append(scopes, string(scope))
	}
	service := tokens.Service{DB: db}
	token, err := service.Create(t.Context(), principal, contract.TokenCreation{
		Body: contract.NewToken{Name: "test", Scopes: scopes},
	})
	if err != nil {
		t.Fatal(err)
	}
	return token.Secret.Reveal()
}

func mint(t *testing.T, api *client.Client, keyType string) string {
	t.Helper()
	in := contract.NewKey{Owner: "ana", KeyType: keyType}.In("shop")
	k, err := client.Do(t.Context(), api, contract.CreateKey, in)
	if err != nil {
		t.Fatal(err)
	}
	return k.Secret.Reveal()
}

// exported exports the project, and returns the folder that it is unpacked to.
func exported(t *testing.T, api *client.Client) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	queued, err := client.Do(ctx, api, contract.CreateExport, contract.NewExport{Format: "gateway"}.In("shop"))
	if err != nil {
		t.Fatal(err)
	}
	ready, err := api.WaitExport(ctx, queued.ID, func(contract.Export) {})
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := api.Download(ctx, ready, &archive); err != nil {
		t.Fatal(err)
	}
	files, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, f := range files.File {
		unpack(t, f, filepath.Join(folder, filepath.FromSlash(f.Name)))
	}
	return folder
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// calls are on the routes of some rules and next to them.
func (d *documented) calls() (out []Case) {
	step := max(1, len(d.rules)/maxDocumentedRules)
	for _, name := range slices.Sorted(maps.Keys(d.callers)) {
		for i := 0; i < len(d.rules); i += step {
			path := parameter.ReplaceAllString(d.rules[i].Path, "a%20b-1")
			for _, method := range append(slices.Clone(d.rules[i].Methods), "HEAD", "PURGE") {
				for _, at := range []string{path, path + "/", path + "/x", strings.ToUpper(path)} {
					at = prod + at + "?page=1"
					out = append(out, one(name+" "+method+" "+at, method, projectHost, at, d.callers[name]...))
				}
			}
		}
	}
	return out
}

// startProduct starts the whole product on SQLite.
func startProduct(t *testing.T) *app.App {
	t.Helper()
	settings := config.Default()
	settings.ControlAddr, settings.GatewayAddr, settings.DataDir = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	settings.Drain = 0
	server, err := app.New(t.Context(), settings, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	return server
}

func apiOf(t *testing.T, server *app.App, token string) *client.Client {
	t.Helper()
	api, err := client.New(server.Config.PublicURL, token)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func gunzipped(t *testing.T, file string) string {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
