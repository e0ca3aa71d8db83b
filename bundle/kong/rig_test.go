package kong

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
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
	places atomic.Pointer[policy.KeyPlaces] // where keys travel; nil: in X-API-Key
	token  atomic.Pointer[string]           // what is let in, nil: none
	denial atomic.Pointer[policy.Denial]    // of every token, if there is one
	ruled  atomic.Pointer[policy.Denial]    // of calls with the key, if there is one

	says atomic.Pointer[string] // the body of the upstream's answers, if there is one

	ready  atomic.Bool
	open   atomic.Bool  // lets everything through
	lentTo atomic.Int64 // requests with the key

	config  atomic.Pointer[gatewayDoc] // what the admin API was given last; nil: what is on disk
	loads   atomic.Int64               // how often it was given something
	refuses atomic.Int64               // the status of its response, 0 for 201

	mu       sync.Mutex
	upstream func(path string) int // see answer
}

// answer sets the status with which the upstream of a path answers, 0 for none at
// all. It is 200 before. Calls of status are serialized, also with locked.
func (r *rig) answer(status func(path string) int) { r.locked(func() { r.upstream = status }) }

// locked runs f while no request asks an upstream.
func (r *rig) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func newRig(t *testing.T, runtimes ...string) *rig {
	t.Helper()
	return newRigOf(t, sampleFiles(t), sample.Keys()["active"].Plaintext, runtimes...)
}

// newRigFor unpacks the export of in; its proxy lets key in.
func newRigFor(t *testing.T, in bundle.Input, key string, runtimes ...string) *rig {
	t.Helper()
	return newRigOf(t, write(t, in), key, runtimes...)
}

// newRigOf is newRigFor for the files of an export.
func newRigOf(t *testing.T, files map[string]string, key string, runtimes ...string) *rig {
	t.Helper()
	base := filepath.Join(t.TempDir(), `a folder with 'odd' $(name)`)
	r := &rig{folder: filepath.Join(base, "gateway"), bin: t.TempDir(), key: key}
	r.log = filepath.Join(r.bin, "calls")
	r.ready.Store(true)
	for name, text := range files {
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
	for _, tool := range []string{"sh", "curl", "sed", "grep", "tr", "sort", "head", "tail", "wc", "sleep",
		"dirname", "basename", "cat", "awk", "od", "mktemp", "rm", "cut", "date", "sha1sum", "sha256sum"} {
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
		"KONG_PROXY_PORT=" + serve(t, r.proxy), "KONG_ADMIN_PORT=" + serve(t, r.admin),
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

// The answers of Kong 3.9.3 where a route or an upstream is missing.
const (
	kongNoRoute    = `{"message":"no Route matched with those values","request_id":"f00"}`
	kongNoUpstream = `{"message":"An invalid response was received from the upstream server","request_id":"f00"}`
	kongNoAddress  = `{"message":"name resolution failed","request_id":"f00"}`
	kongTimeout    = `{"message":"The upstream server is timing out","request_id":"f00"}`
)

// proxy plays the gateway: routes that the admin API was given ask for no key.
func (r *rig) proxy(w http.ResponseWriter, req *http.Request) {
	key := req.Header.Get("X-API-Key")
	if places := r.places.Load(); places != nil {
		key = places.Read(requestSource{req}, false).Text
	}
	token, hasToken := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if key == r.key {
		r.lentTo.Add(1)
	}
	prefix, checking := r.checkRoute(req.URL.Path)
	switch {
	case !strings.HasPrefix(req.URL.Path, "/open/") && strings.Count(req.URL.Path, "/") < 3, prefix == "" && checking:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, kongNoRoute)
		return
	case hasToken && r.denial.Load() != nil:
		w.WriteHeader(r.denial.Load().Status)
		_, _ = w.Write(r.denial.Load().Body())
		return
	case key == r.key && r.ruled.Load() != nil:
		w.WriteHeader(r.ruled.Load().Status)
		_, _ = w.Write(r.ruled.Load().Body())
		return
	case hasToken && token == "of-an-issuer-that-is-away":
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write(policy.IssuerUnavailable.Body())
		return
	case checking, r.open.Load(), key == r.key, strings.HasPrefix(req.URL.Path, "/open/"):
	case hasToken && r.token.Load() != nil && token == *r.token.Load():
	default:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write(policy.InvalidKey.Body())
		return
	}
	if !checking {
		prefix = req.URL.Path
	}
	status := http.StatusOK
	r.locked(func() {
		if r.upstream != nil {
			status = r.upstream(prefix)
		}
	})
	if status == 0 {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, kongNoUpstream)
		return
	}
	w.WriteHeader(status)
	if body := r.says.Load(); body != nil {
		fmt.Fprint(w, *body)
	}
}

// checkRoute reports whether a path is that of a route for asking an upstream, and
// the prefix of its environment, "" when the gateway has no such route.
func (r *rig) checkRoute(path string) (prefix string, checking bool) {
	if secret, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); len(secret) != 32 {
		return "", false
	}
	doc := r.config.Load()
	if doc == nil {
		return "", true
	}
	for _, s := range doc.Services {
		for _, route := range s.Routes {
			policy := doc.Plugins[0].Config.Routes[route.ID]
			if slices.Contains(route.Paths, path) && route.StripPath && policy.Mode == snapshot.Passthrough {
				return "/" + strings.ReplaceAll(s.Name, "~", "/") + "/", true
			}
		}
	}
	return "", true
}

func (r *rig) admin(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/services":
		fmt.Fprint(w, `{"data":[{"retries":0,"name":"1.0.0~prod","host":"x"},`+
			`{"name":"1.0.0~dev","tags":null}],"next":null}`)
	case "/consumers":
		fmt.Fprint(w, `{"data":[{"username":"ana","custom_id":"ana"},`+
			`{"username":"a \"custom_id\": b","custom_id":"x"}],"next":null}`)
	case "/config":
		var doc gatewayDoc
		if err := json.Unmarshal([]byte(req.FormValue("config")), &doc); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.loads.Add(1)
		if status := r.refuses.Load(); status != 0 {
			w.WriteHeader(int(status))
			return
		}
		r.config.Store(&doc)
		w.WriteHeader(http.StatusCreated)
	default:
		http.NotFound(w, req)
	}
}

// start runs start.sh and gives its exit status and everything it printed.
func (r *rig) start(t *testing.T, mode string, args ...string) (int, string) {
	t.Helper()
	return r.startWith(t, mode, "", args...)
}

// startWith is start with a standard input.
func (r *rig) startWith(t *testing.T, mode, input string, args ...string) (int, string) {
	t.Helper()
	command := append([]string{filepath.Join(r.folder, "start.sh")}, args...)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", command...)
	cmd.Env = append(slices.Clone(r.env), "STANDIN_MODE="+mode)
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(input)
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
