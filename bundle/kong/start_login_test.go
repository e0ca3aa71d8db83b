package kong

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// loginInput is the sample project with people, and a version that takes their tokens.
func loginInput() bundle.Input {
	in := sampleInput()
	in.Users = sample.People(in.Project)
	in.Project.Versions[0].Access.Methods = []string{snapshot.APIKey, snapshot.JWT}
	return in
}

// secrets of loginInput's login, as in .env.
const secrets = "LOGIN_ADMIN_PASSWORD=admin\nLOGIN_SECRET_CLI_2=robot\nLOGIN_SECRET_IDP_1=google\n" +
	"LOGIN_APP_IDP_3=app\nLOGIN_SECRET_IDP_3=github\n"

func TestStartScript_login(t *testing.T) {
	r := newRigFor(t, loginInput(), sample.Keys()["active"].Plaintext, "docker")
	r.env = append(r.env, "LOGIN_PORT="+serve(t, func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/realms/shop/.well-known/openid-configuration" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	code, out := r.start(t, "ok", "--with-login")
	expect(t, code, 1, out, "no value for LOGIN_ADMIN_PASSWORD LOGIN_SECRET_IDP_1 LOGIN_APP_IDP_3 "+
		"LOGIN_SECRET_IDP_3 LOGIN_SECRET_CLI_2: copy .env.example")
	if strings.Contains(r.calls(t), "up -d") {
		t.Error("containers were started without the secrets")
	}
	if err := os.WriteFile(filepath.Join(r.folder, ".env"), []byte(secrets), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out = r.start(t, "ok", "--with-login")
	expect(t, code, 0, out, "ok    users sign in at http://localhost:", "/realms/shop\n")
	if !strings.Contains(r.calls(t), "|compose --profile login up -d\n") {
		t.Errorf("calls:\n%s", r.calls(t))
	}
	code, out = r.start(t, "ok", "--stop")
	expect(t, code, 0, out)
	if !strings.Contains(r.calls(t), "|compose --profile login down\n") {
		t.Errorf("calls:\n%s", r.calls(t))
	}
}

func TestStartScript_loginWithoutRealm(t *testing.T) {
	r := newRig(t, "docker")
	code, out := r.start(t, "ok", "--with-login")
	expect(t, code, 2, out, "--with-login: no route in this export accepts tokens")
}

func TestStartScript_delayedLogin(t *testing.T) {
	r := newRigFor(t, loginInput(), sample.Keys()["active"].Plaintext, "docker")
	if err := os.WriteFile(filepath.Join(r.folder, ".env"), []byte(secrets), 0o600); err != nil {
		t.Fatal(err)
	}
	down := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	r.env = append(r.env, "START_TIMEOUT=0", "LOGIN_PORT="+down)
	code, out := r.start(t, "ok", "--with-login")
	expect(t, code, 1, out, "Keycloak is still not serving the realm shop after 0 seconds")
}

// The compose file hands Keycloak the realm and what its placeholders stand for, and Kong
// no secret of it.
func TestComposeFile_login(t *testing.T) {
	files := write(t, loginInput())
	var doc struct {
		Services map[string]struct {
			Profiles    []string
			Environment map[string]string
			Volumes     []string
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(files["gateway/docker-compose.yaml"]), &doc); err != nil {
		t.Fatal(err)
	}
	login, kong := doc.Services["login"], doc.Services["kong"]
	if len(login.Profiles) != 1 || login.Profiles[0] != "login" {
		t.Errorf("profiles %v: it would be started without being asked for", login.Profiles)
	}
	realm := files["auth/keycloak-realm.json"]
	for rest := realm; strings.Contains(rest, "${"); {
		_, rest, _ = strings.Cut(rest, "${")
		name, _, _ := strings.Cut(rest, "}")
		if _, have := login.Environment[name]; !have {
			t.Errorf("Keycloak has no variable %s", name)
		}
		if _, have := kong.Environment[name]; have {
			t.Errorf("Kong has the variable %s", name)
		}
	}
	if _, have := kong.Environment["LOGIN_ISSUER"]; !have {
		t.Error("Kong does not know the issuer")
	}
	const mounted = "../auth/keycloak-realm.json:/opt/keycloak/data/import/shop-realm.json:ro,z"
	if len(login.Volumes) != 2 || login.Volumes[1] != mounted {
		t.Errorf("volumes %v", login.Volumes)
	}
}
