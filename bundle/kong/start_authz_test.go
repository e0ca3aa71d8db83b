package kong

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/servers"
)

// rulesInput is the sample project with a rule.
func rulesInput() bundle.Input {
	in := sampleInput()
	in.Project.Versions[0].Rules = snapshot.Rules{List: []snapshot.Rule{
		{ID: "rul_1", Methods: []string{"GET"}, Path: "/orders/{id}", Scopes: []string{"orders:read"}},
	}}
	return in
}

func TestStartScript_openFGA(t *testing.T) {
	r := newRigFor(t, rulesInput(), sample.Keys()["active"].Plaintext, "docker")
	server := servers.StartOpenFGA(t, "")
	r.env = append(r.env, "OPENFGA_PORT="+server.URL[strings.LastIndex(server.URL, ":")+1:], "OPENFGA_TOKEN=a-secret")
	r.env = append(r.env, "START_TIMEOUT=0")
	code, out := r.start(t, "ok", "--authz")
	expect(t, code, 1, out,
		"OpenFGA still does not have the rules after", "is not loaded.). The end of its log is above")

	// This is done by the container openfga-load.
	load := exec.CommandContext(t.Context(), "sh", filepath.Join(r.folder, "../authz/load.sh"), server.URL)
	if text, err := load.CombinedOutput(); err != nil {
		t.Fatalf("load.sh: %v\n%s", err, text)
	}
	code, out = r.start(t, "ok", "--authz")
	expect(t, code, 0, out, "ok    the store shop.", " is loaded: ", ", at http://127.0.0.1:")
	if !strings.Contains(r.calls(t), "|compose --profile authz up -d\n") {
		t.Errorf("calls:\n%s", r.calls(t))
	}
	code, out = r.start(t, "ok", "--stop")
	expect(t, code, 0, out)
	if !strings.Contains(r.calls(t), "|compose --profile authz down\n") {
		t.Errorf("calls:\n%s", r.calls(t))
	}
}

func TestStartScript_openFGAWithoutRules(t *testing.T) {
	r := newRig(t, "docker")
	code, out := r.start(t, "ok", "--authz")
	expect(t, code, 2, out, "--authz: no version in this export has rules")
}

// The compose file starts OpenFGA when it is asked to alone, on this machine alone, at the version that
// the model is tested with, and mounts what the container of the script reads.
func TestComposeFile_openFGA(t *testing.T) {
	in := loginInput()
	in.Project.Versions[0].Rules = rulesInput().Project.Versions[0].Rules
	files := write(t, in)
	var doc struct {
		Services map[string]struct {
			Image       string
			Profiles    []string
			Ports       []string
			Volumes     []string
			Environment map[string]string
			Entrypoint  []string
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(files["gateway/docker-compose.yaml"]), &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"openfga", "openfga-migrate", "openfga-load"} {
		if got := doc.Services[name].Profiles; !slices.Equal(got, []string{"authz"}) {
			t.Errorf("profiles of %s: %v", name, got)
		}
	}
	server := doc.Services["openfga"]
	if want := "openfga/openfga:" + servers.OpenFGAVersion(); server.Image != want {
		t.Errorf("image %s, want %s", server.Image, want)
	}
	for _, port := range server.Ports {
		if !strings.HasPrefix(port, "127.0.0.1:") {
			t.Errorf("port %s is open to other machines", port)
		}
	}
	if got := server.Environment["OPENFGA_HTTP_CORS_ALLOWED_ORIGINS"]; got == "" || strings.Contains(got, "*") {
		t.Errorf("pages of the origins %q may ask OpenFGA", got)
	}
	for _, name := range []string{"login", "openfga"} {
		if _, have := doc.Volumes[name]; !have {
			t.Errorf("volumes %v lack %s", doc.Volumes, name)
		}
	}
	load := doc.Services["openfga-load"]
	if len(load.Volumes) != 1 || load.Volumes[0] != "../authz:/authz:ro,z" || load.Entrypoint[1] != "/authz/load.sh" {
		t.Errorf("%+v", load)
	}
	if _, have := files["authz/load.sh"]; !have {
		t.Error("there is no authz/load.sh")
	}
}
