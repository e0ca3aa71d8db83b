package kong

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"postern/bundle"
	"postern/testkit/sample"
)

// rig is an unpacked export, a container runtime that only plays one, and
// servers on the three ports of a gateway.
type rig struct {
	folder string // of gateway/
	bin    string // what PATH has of container runtimes
	log    string // calls of those
	env    []string
	key    string

	ready  atomic.Bool
	open   atomic.Bool  // lets everything through
	lentTo atomic.Int64 // requests with the key
}

func newRig(t *testing.T, runtimes ...string) *rig {
	t.Helper()
	return newRigFor(t, sampleInput(), sample.Keys()["active"].Plaintext, runtimes...)
}

// newRigFor unpacks the export of in; its proxy lets key in.
func newRigFor(t *testing.T, in bundle.Input, key string, runtimes ...string) *rig {
	t.Helper()
	base := filepath.Join(t.TempDir(), `a folder with 'odd' $(name)`)
	r := &rig{folder: filepath.Join(base, "gateway"), bin: t.TempDir(), key: key}
	r.log = filepath.Join(r.bin, "calls")
	r.ready.Store(true)
	for name, text := range write(t, in) {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	standin, err := filepath.Abs("testdata/runtime/standin")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range runtimes {
		if err := os.Symlink(standin, filepath.Join(r.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"sh", "curl", "sed", "grep", "tr", "sort", "head", "tail", "wc", "sleep", "dirname", "basename", "cat"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatalf("%s is missing: %v", tool, err)
		}
		if err := os.Symlink(path, filepath.Join(r.bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	r.env = []string{
		"PATH=" + r.bin, "STANDIN_LOG=" + r.log,
		"KONG_PROXY_PORT=" + serve(t, r.proxy), "KONG_ADMIN_PORT=" + serve(t, admin),
		"KONG_STATUS_PORT=" + serve(t, func(w http.ResponseWriter, req *http.Request) {
			if !r.ready.Load() || req.URL.Path != "/status/ready" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}),
	}
	return r
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (r *rig) proxy(w http.ResponseWriter, req *http.Request) {
	key := req.Header.Get("X-API-Key")
	if key == r.key {
		r.lentTo.Add(1)
	}
	if !r.open.Load() && key != r.key {
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func admin(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/services":
		fmt.Fprint(w, `{"data":[{"retries":0,"name":"1.0.0~prod","host":"x"},{"name":"1.0.0~dev","tags":null}],"next":null}`)
	case "/consumers":
		fmt.Fprint(w, `{"data":[{"username":"ana","custom_id":"ana"},{"username":"a \"custom_id\": b","custom_id":"x"}],"next":null}`)
	default:
		http.NotFound(w, req)
	}
}

// start runs start.sh and gives its exit status and everything it printed.
func (r *rig) start(t *testing.T, mode string, args ...string) (int, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{filepath.Join(r.folder, "start.sh")}, args...)...)
	cmd.Env = append(slices.Clone(r.env), "STANDIN_MODE="+mode)
	cmd.Dir = t.TempDir()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("run start.sh: %v", err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

func (r *rig) calls(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(r.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func expect(t *testing.T, code, want int, out string, texts ...string) {
	t.Helper()
	if code != want {
		t.Errorf("exit status %d, want %d", code, want)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("output lacks %q", text)
		}
	}
	if t.Failed() {
		t.Logf("output:\n%s", out)
	}
}

func TestStartServesAndChecks(t *testing.T) {
	r := newRig(t, "docker")
	code, out := r.start(t, "ok")
	expect(t, code, 0, out, "services:\n  1.0.0~dev\n  1.0.0~prod\n", "consumers: 2\n", "  ana\n",
		"ok    /1.0.0/prod/ without a key: 401", "ok    /1.0.0/prod/ with an unknown key: 401",
		"open  /open/prod/ asks for no key", "The gateway serves on http://127.0.0.1:")
	calls := r.calls(t)
	if !strings.Contains(calls, "|compose up -d\n") || !strings.HasPrefix(calls, "docker|postern-") {
		t.Errorf("calls:\n%s", calls)
	}
}

func TestStartFindsEveryKindOfCompose(t *testing.T) {
	for runtime, up := range map[string]string{
		"docker": "docker|%s|compose up -d", "docker-compose": "docker-compose|%s|up -d",
		"podman": "podman|%s|compose up -d", "podman-compose": "podman-compose|%s|up -d",
	} {
		r := newRig(t, runtime)
		code, out := r.start(t, "ok")
		expect(t, code, 0, out)
		_, name, _ := strings.Cut(r.calls(t), "|")
		name, _, _ = strings.Cut(name, "|")
		if want := fmt.Sprintf(up, name); !strings.Contains(r.calls(t), want) {
			t.Errorf("%s: no call %q in\n%s", runtime, want, r.calls(t))
		}
	}
}

func TestStartFallsBackFromAMissingPlugin(t *testing.T) {
	r := newRig(t, "docker", "docker-compose")
	code, out := r.start(t, "no-plugin")
	expect(t, code, 0, out)
	if !strings.Contains(r.calls(t), "docker-compose|") {
		t.Errorf("calls:\n%s", r.calls(t))
	}
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		runtimes []string
		mode     string
		without  string
		text     string
	}{
		"no runtime": {nil, "ok", "", "there is no container runtime: install Docker"},
		"no compose": {[]string{"docker"}, "no-plugin", "", "no compose: install the compose plugin"},
		"no daemon":  {[]string{"docker"}, "no-daemon", "", "does not answer: is it running"},
		"up fails":   {[]string{"docker"}, "up-fails", "", "port is already allocated"},
		"no curl":    {[]string{"docker"}, "ok", "curl", "curl is missing"},
	} {
		r := newRig(t, c.runtimes...)
		if c.without != "" {
			if err := os.Remove(filepath.Join(r.bin, c.without)); err != nil {
				t.Fatal(err)
			}
		}
		code, out := r.start(t, c.mode)
		if code != 1 || !strings.Contains(out, c.text) {
			t.Errorf("%s: exit status %d, output:\n%s", name, code, out)
		}
	}
}

func TestStartPrintsWhyTheGatewayRefused(t *testing.T) {
	r := newRig(t, "docker")
	r.ready.Store(false)
	code, out := r.start(t, "refused")
	expect(t, code, 1, out, "init_by_lua error: error parsing declarative config file", "in entry 1: unknown field", "the gateway refused to start")
}

func TestStartGivesUpWaiting(t *testing.T) {
	r := newRig(t, "docker")
	r.ready.Store(false)
	r.env = append(r.env, "START_TIMEOUT=0")
	code, out := r.start(t, "ok")
	expect(t, code, 1, out, "not ready after 0 seconds", "[notice]")
}

func TestStartNoticesAGatewayThatLetsEverybodyIn(t *testing.T) {
	r := newRig(t, "docker")
	r.open.Store(true)
	code, out := r.start(t, "ok")
	expect(t, code, 1, out, "WRONG /1.0.0/prod/ without a key: 200 instead of 401", "checks went wrong")
}

func TestStartTriesAKeyWhereItBelongs(t *testing.T) {
	r := newRig(t, "docker")
	code, out := r.start(t, "ok", "--key", r.key)
	expect(t, code, 0, out, "ok    /1.0.0/prod/ with your key: 200")
	code, out = r.start(t, "ok", "--key", r.key, "--path", "/1.0.0/prod/status")
	expect(t, code, 0, out, "ok    /1.0.0/prod/status with your key: 200")
	if strings.Contains(out, r.key) || strings.Contains(r.calls(t), r.key) {
		t.Error("the key was printed or passed on")
	}
	code, out = r.start(t, "ok", "--key", sample.Keys()["dev"].Plaintext)
	expect(t, code, 1, out, "WRONG /1.0.0/dev/ with your key: 401 instead of 200")
	if n := r.lentTo.Load(); n != 2 {
		t.Errorf("the key was presented %d times, want 2", n)
	}
}

// A key of an environment called all looks like one for every environment.
func TestStartTriesAKeyOfAnEnvironmentCalledAll(t *testing.T) {
	in := sampleInput()
	in.Project.Versions[0].Environments[1].Name = "all"
	key := sample.Keys()["allenvs"].Plaintext
	r := newRigFor(t, in, key, "docker")
	code, out := r.start(t, "ok", "--key", r.key)
	expect(t, code, 0, out, "ok    /1.0.0/all/ with your key: 200")

	r = newRigFor(t, sampleInput(), key, "docker")
	code, out = r.start(t, "ok", "--key", r.key)
	expect(t, code, 0, out, "ok    /1.0.0/dev/ with your key: 200")
}

func TestStopTakesTheGatewayDown(t *testing.T) {
	r := newRig(t, "docker")
	code, out := r.start(t, "ok", "--stop")
	expect(t, code, 0, out)
	if calls := r.calls(t); !strings.Contains(calls, "|compose down\n") || strings.Contains(calls, " up ") {
		t.Errorf("calls:\n%s", calls)
	}
}

func TestStartRefusesWrongUsage(t *testing.T) {
	r := newRig(t, "docker")
	for _, args := range [][]string{{"--nope"}, {"--key"}, {"--key", "a\"\nurl=x"}, {"--token", "x"}, {"--path", "x"}, {"--path", "/a b"}, {"x"}} {
		if code, out := r.start(t, "ok", args...); code != 2 || !strings.Contains(out, "usage: ./start.sh") {
			t.Errorf("%q: exit status %d, output:\n%s", args, code, out)
		}
	}
	if calls := r.calls(t); calls != "" {
		t.Errorf("wrong usage got as far as\n%s", calls)
	}
}
