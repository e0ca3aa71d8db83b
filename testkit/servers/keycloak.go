package servers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Keycloak is a running Keycloak: the identity provider that exports of a login are made for. It imports realms as its
// users do, and tests create clients in them. tools/setup builds the distribution for a database in memory
// (keycloak.org/server/configuration).
type Keycloak struct {
	URL string // http://127.0.0.1:port
}

// The administrator of each server, who is gone with it.
const (
	admin         = "admin"
	adminPassword = "of no value: the process ends with the test"
)

// keycloakPatience is for a machine that does much else: the start takes ten seconds on two
// free cores.
const keycloakPatience = 10 * time.Minute

// StartKeycloak runs a Keycloak until the test ends, with realms as --import-realm takes
// them: name to JSON. It takes ten seconds or more and some 400 MB, so that the tests
// of a package share one. A test without Java or the distribution fails.
func StartKeycloak(t testing.TB, realms map[string]string) *Keycloak {
	t.Helper()
	files := map[string]string{}
	for name, realm := range realms {
		files[name+"-realm"] = realm
	}
	return StartKeycloakWith(t, files)
}

// StartKeycloakWith is StartKeycloak with the names of all files to import, without .json: <realm>-realm
// and <realm>-users-<number>. environment has lines NAME=value, which placeholders in the
// files stand for.
func StartKeycloakWith(t testing.TB, files map[string]string, environment ...string) *Keycloak {
	t.Helper()
	return startKeycloak(t, "keycloak", files, environment)
}

// StartNewerKeycloak is StartKeycloakWith for the newer version of the two that are pinned.
func StartNewerKeycloak(t testing.TB, files map[string]string, environment ...string) *Keycloak {
	t.Helper()
	return startKeycloak(t, "newer_keycloak", files, environment)
}

func startKeycloak(t testing.TB, pinnedAs string, files map[string]string, environment []string) *Keycloak {
	t.Helper()
	home := layOutKeycloak(t, installed(t, "keycloak-"+version(pinnedAs)), files)
	command := exec.Command(java(), append(
		keycloakOptions(home),
		"start",
		"--optimized",
		"--import-realm",
		// The issuer then has the port of the request, which is not known earlier.
		"--http-enabled=true",
		"--hostname-strict=false",
		"--http-host=127.0.0.1",
		"--http-port=0",
		"--http-management-port=0",
		"--cache=local",
	)...)
	command.Env = append(
		os.Environ(), "KC_BOOTSTRAP_ADMIN_USERNAME="+admin, "KC_BOOTSTRAP_ADMIN_PASSWORD="+adminPassword,
	)
	command.Env = append(command.Env, environment...)
	endWithTests(command)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = command.Stdout
	if err := command.Start(); err != nil {
		t.Fatalf("start Keycloak: %v (run tools/setup)", err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill() // what it knows is in memory
		_ = command.Wait()
	})
	late := time.AfterFunc(keycloakPatience, func() { _ = command.Process.Kill() })
	address, said := listening(output)
	late.Stop()
	if address == "" {
		t.Fatalf("Keycloak did not start:\n%s", said)
	}
	go func() { _, _ = io.Copy(io.Discard, output) }() // or it would wait for a reader
	return &Keycloak{URL: address}
}

// layOutKeycloak lays out a home directory of the server's own, with the shared distribution
// in it: what is imported, and what the server writes, is below data.
func layOutKeycloak(t testing.TB, shared string, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	imports := filepath.Join(home, "data", "import")
	if err := os.MkdirAll(imports, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"lib", "conf", "providers", "themes"} {
		if err := os.Symlink(filepath.Join(shared, part), filepath.Join(home, part)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(imports, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// java prefers JAVA_HOME, as kc.sh does.
func java() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", "java")
	}
	return "java"
}

// keycloakOptions are those of kc.sh, which cannot be used itself: it finds its home by
// following links. The small heap holds a few realms; the simple collector and
// compiler start in half the time.
func keycloakOptions(home string) []string {
	return []string{
		"-Xmx256m",
		"-XX:+UseSerialGC",
		"-XX:TieredStopAtLevel=1",
		"-Djava.awt.headless=true",
		"-Dfile.encoding=UTF-8",
		"-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
		"-Djava.util.concurrent.ForkJoinPool.common.threadFactory=" +
			"io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory",
		"-Dkc.home.dir=" + home,
		"-Djboss.server.config.dir=" + filepath.Join(home, "conf"),
		"-Dkeycloak.theme.dir=" + filepath.Join(home, "themes"),
		"-cp",
		filepath.Join(home, "lib", "quarkus-run.jar"),
		"io.quarkus.bootstrap.runner.QuarkusEntryPoint",
	}
}

// listeningLine is written once everything is imported and answers.
var listeningLine = regexp.MustCompile(`Listening on: (http://127\.0\.0\.1:\d+)`)

func listening(output io.Reader) (address, said string) {
	var all strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if found := listeningLine.FindStringSubmatch(lines.Text()); found != nil {
			return found[1], all.String()
		}
		all.WriteString(lines.Text() + "\n")
	}
	return "", all.String()
}

// Issuer is that of a realm.
func (s *Keycloak) Issuer(realm string) string { return s.URL + "/realms/" + realm }

// Register creates a confidential client of a realm, which has to use PKCE, and whose
// people may come back to one address alone.
func (s *Keycloak) Register(t testing.TB, realm, id, secret, redirectURI string) {
	t.Helper()
	s.Admin(t, http.MethodPost, realm, "/clients", map[string]any{
		"clientId":                  id,
		"secret":                    secret,
		"redirectUris":              []string{redirectURI},
		"publicClient":              false,
		"directAccessGrantsEnabled": false,
		"attributes":                map[string]string{"pkce.code.challenge.method": "S256"},
	})
}

// AddRedirect lets the people of a client that Register created come back to one more
// address.
func (s *Keycloak) AddRedirect(t testing.TB, realm, id, redirectURI string) {
	t.Helper()
	var found []map[string]any
	raw := s.Admin(t, http.MethodGet, realm, "/clients?clientId="+url.QueryEscape(id), nil)
	if err := json.Unmarshal(raw, &found); err != nil || len(found) != 1 {
		t.Fatalf("client %s of Keycloak's realm %s: %v in %s", id, realm, err, raw)
	}
	uris, _ := found[0]["redirectUris"].([]any)
	found[0]["redirectUris"] = append(uris, redirectURI)
	s.Admin(t, http.MethodPut, realm, "/clients/"+found[0]["id"].(string), found[0])
}

// Admin calls the Admin REST API (keycloak.org/docs-api/latest/rest-api) as the administrator, to a path of a realm,
// and returns the answer's body. A refusal fails the test.
func (s *Keycloak) Admin(t testing.TB, method, realm, path string, in any) []byte {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	ask, err := http.NewRequestWithContext(
		t.Context(), method, s.URL+"/admin/realms/"+url.PathEscape(realm)+path, bytes.NewReader(body),
	)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/json")
	ask.Header.Set("Authorization", "Bearer "+s.adminToken(t))
	raw, err := send(ask)
	if err != nil {
		t.Fatalf("%s %s of Keycloak's realm %s: %v", method, path, realm, err)
	}
	return raw
}

// adminToken is one of admin-cli, Keycloak's own client for its administrators.
func (s *Keycloak) adminToken(t testing.TB) string {
	t.Helper()
	form := url.Values{
		"grant_type": {"password"},
		"client_id":  {"admin-cli"},
		"username":   {admin},
		"password":   {adminPassword},
	}
	ask, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, s.Issuer("master")+"/protocol/openid-connect/token",
		strings.NewReader(form.Encode()),
	)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	raw, err := send(ask)
	var got struct {
		Access string `json:"access_token"`
	}
	if err != nil || json.Unmarshal(raw, &got) != nil {
		t.Fatalf("sign in as Keycloak's administrator: %v", err)
	}
	return got.Access
}

func send(ask *http.Request) ([]byte, error) {
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", answer.Status, raw)
	}
	return raw, err
}
