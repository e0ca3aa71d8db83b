package kong

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/testkit/sample"
)

func expect(t *testing.T, code, want int, out string, texts ...string) {
	t.Helper()
	missing := slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(out, text) })
	if code != want || len(missing) > 0 {
		t.Errorf("exit status %d, want %d; output lacks %q:\n%s", code, want, missing, out)
	}
}

func TestStartScript_checks(t *testing.T) {
	r := newRig(t, "docker")
	code, out := r.start(t, "ok")
	expect(t, code, 0, out, "services:\n  1.0.0~dev\n  1.0.0~prod\n", "consumers: 2\n", "  ana\n",
		"ok    the upstream of /1.0.0/dev/ responds: 200", "ok    the upstream of /open/prod/ responds: 200",
		"ok    /1.0.0/prod/ without a key: 401", "ok    /1.0.0/prod/ with an unknown key: 401",
		"open  /open/prod/ requires no key", "The gateway is ready at http://127.0.0.1:")
	calls := r.calls(t)
	if !strings.Contains(calls, "|compose up -d\n") || !strings.HasPrefix(calls, "docker|postern-") {
		t.Errorf("calls:\n%s", calls)
	}
}

func TestStartScript_composeCommands(t *testing.T) {
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

func TestStartScript_missingPlugin(t *testing.T) {
	r := newRig(t, "docker", "docker-compose")
	code, out := r.start(t, "no-plugin")
	expect(t, code, 0, out)
	if !strings.Contains(r.calls(t), "docker-compose|") {
		t.Errorf("calls:\n%s", r.calls(t))
	}
}

func TestStartScript_missingPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		runtimes []string
		mode     string
		without  string
		text     string
	}{
		"no runtime": {nil, "ok", "", "found no container runtime: install Docker"},
		"no compose": {[]string{"docker"}, "no-plugin", "", "not compose: install the compose plugin"},
		"no daemon":  {[]string{"docker"}, "no-daemon", "", "does not respond. Check that it is running"},
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

func TestStartScript_refusingGateway(t *testing.T) {
	r := newRig(t, "docker")
	r.ready.Store(false)
	code, out := r.start(t, "refused")
	expect(t, code, 1, out, "init_by_lua error: error parsing declarative config file",
		"in entry 1: unknown field", "the gateway refused to start")
}

func TestStartScript_timeout(t *testing.T) {
	r := newRig(t, "docker")
	r.ready.Store(false)
	r.env = append(r.env, "START_TIMEOUT=0")
	code, out := r.start(t, "ok")
	expect(t, code, 1, out, "not ready after 0 seconds", "[notice]")
}

func TestStartScript_openGateway(t *testing.T) {
	r := newRig(t, "docker")
	r.open.Store(true)
	code, out := r.start(t, "ok")
	expect(t, code, 1, out, "FAIL  /1.0.0/prod/ without a key: 200 instead of a refusal", "checks failed")
}

func TestStartScript_keyOfEnvironment(t *testing.T) {
	r := newRig(t, "docker")
	code, out := r.start(t, "ok", "--key", r.key)
	expect(t, code, 0, out, "ok    /1.0.0/prod/ with your key: let through, and the upstream returned 200")
	code, out = r.start(t, "ok", "--key", r.key, "--path", "/1.0.0/prod/status")
	expect(t, code, 0, out, "ok    /1.0.0/prod/status with your key: let through")
	if strings.Contains(out, r.key) || strings.Contains(r.calls(t), r.key) {
		t.Error("the key was printed or passed on")
	}
	code, out = r.start(t, "ok", "--key", sample.Keys()["dev"].Plaintext)
	expect(t, code, 1, out, "FAIL  /1.0.0/dev/ with your key: 401, refused")
	if n := r.lentTo.Load(); n != 2 {
		t.Errorf("the key was presented %d times, want 2", n)
	}
}

// A valid key may be refused by a rule, which is not an answer of the upstream.
func TestStartScript_refusedByRule(t *testing.T) {
	r := newRig(t, "docker")
	for _, denial := range []policy.Denial{
		policy.InsufficientScope.NameScope("orders:read"), policy.TokenScope, policy.NotInGroup, policy.NotOwner,
		policy.NoRule,
	} {
		t.Run(denial.Message, func(t *testing.T) {
			r.ruled.Store(&denial)
			code, out := r.start(t, "ok", "--key", r.key)
			expect(t, code, 1, out, "FAIL  /1.0.0/prod/ with your key: 403, refused by the rules of this route ("+
				denial.Code+"). The key is valid: choose a path that it may call, and pass it with --path")
		})
	}
}

// start.sh takes no answer of the plugin for the upstream's.
func TestStartScript_refusals(t *testing.T) {
	lua, err := os.ReadFile("plugin/answers.lua")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("files/start.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, functions, _ := strings.Cut(string(script), "\nmessage_of() {")
	functions, _, ok := strings.Cut("message_of() {"+functions, "\nfail() {")
	answered := regexp.MustCompile(`(?ms)^  ([a-z_]+) = \{\s*(\d{3}),\s*"([^"]+)"`)
	refusals := answered.FindAllStringSubmatch(string(lua), -1)
	if !ok || len(refusals) < 25 {
		t.Fatalf("only %d refusals are found", len(refusals))
	}
	folder := newRig(t).folder
	for _, r := range refusals {
		answer := fmt.Sprintf("{\"message\":%q,\"code\":%q}\n%s", r[3], r[1], r[2])
		ask := exec.Command("sh", "-c", functions+"\nsource_of \"$1\"", "sh", answer)
		ask.Dir = folder
		source, err := ask.CombinedOutput()
		if got := string(source); err != nil || got != "refused" && got != "ruled out" && got != "no upstream" {
			t.Errorf("%s is %q, error %v", r[1], got, err)
		}
	}
}

// A key on the command line is in the list of processes.
func TestStartScript_keyFrom(t *testing.T) {
	r := newRig(t, "docker")
	file := filepath.Join(t.TempDir(), "a key")
	for name, c := range map[string]struct {
		file, input, env string
		args             []string
	}{
		"a file":                        {file: r.key + "\n", args: []string{"--key-file", file}},
		"a file without an end of line": {file: r.key, args: []string{"--key-file", file}},
		"a file from Windows":           {file: r.key + "\r\n", args: []string{"--key-file", file}},
		"a file with blanks":            {file: "\t" + r.key + " \nnot this\n", args: []string{"--key-file", file}},
		"the standard input":            {input: r.key, args: []string{"--key", "-"}},
		"a pipe from Windows":           {input: r.key + "\r\n", args: []string{"--key", "-"}},
		"the environment":               {env: r.key},
	} {
		t.Run(name, func(t *testing.T) {
			writeKey(t, file, c.file)
			r.env = append(r.env, "POSTERN_KEY="+c.env) // the last one counts
			code, out := r.startWith(t, "ok", c.input, c.args...)
			expect(t, code, 0, out, "ok    /1.0.0/prod/ with your key: let through")
		})
	}
}

func writeKey(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Without a key to check, start.sh would report that every check is well.
func TestStartScript_invalidKeyFrom(t *testing.T) {
	r := newRig(t, "docker")
	file := filepath.Join(t.TempDir(), "a key")
	fromFile := []string{"--key-file", file}
	for name, c := range map[string]struct {
		file, input, env string
		args             []string
		says             string
	}{
		"an empty file":      {args: fromFile, says: "--key-file: the first line of " + file + " is empty"},
		"an empty line":      {args: fromFile, file: " \r\n" + r.key, says: "--key-file: the first line of"},
		"a file of two keys": {args: fromFile, file: r.key + " " + r.key, says: "without spaces or line breaks"},
		"an empty input":     {args: []string{"--key", "-"}, says: "the first line of standard input is empty"},
		"an empty argument":  {args: []string{"--key", ""}, says: "--key needs a value"},
		"the environment":    {env: r.key + "\r", says: "without spaces or line breaks"},
	} {
		t.Run(name, func(t *testing.T) {
			writeKey(t, file, c.file)
			r.env = append(r.env, "POSTERN_KEY="+c.env) // the last one counts
			code, out := r.startWith(t, "ok", c.input, c.args...)
			expect(t, code, 2, out, c.says)
		})
	}
}

// A response proves nothing of a key where any key gets it.
func TestStartScript_keyAccepted(t *testing.T) {
	t.Run("an address that requires no key", func(t *testing.T) {
		r := newRig(t, "docker")
		code, out := r.start(t, "ok", "--key", "pst_all_nonsense", "--path", "/open/prod/")
		expect(t, code, 1, out, "FAIL  /open/prod/ accepts any key, so its response proves nothing")
	})
	t.Run("an upstream that answers 404", func(t *testing.T) {
		r := newRig(t, "docker")
		r.answer(func(string) int { return http.StatusNotFound })
		code, out := r.start(t, "ok", "--key", r.key)
		expect(t, code, 0, out, "ok    /1.0.0/prod/ with your key: let through, and the upstream returned 404")
	})
	t.Run("an upstream that does not respond", func(t *testing.T) {
		r := newRig(t, "docker")
		r.answer(func(string) int { return 0 })
		code, out := r.start(t, "ok", "--key", r.key)
		expect(t, code, 1, out,
			"FAIL  /1.0.0/prod/ with your key: let through, but the upstream does not respond (502)")
	})
}

// An upstream may have codes and errors like the gateway's, or be such a gateway itself.
func TestStart_upstreamWithOwnCodes(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a code of a rule":         {http.StatusForbidden, `{"code":"not_in_group","message":"Ask your admin."}`},
		"a code of a limit":        {http.StatusTooManyRequests, `{"code":"rate_limited"}`},
		"an error with its number": {http.StatusInternalServerError, `{"message":"broken","request_id":"mine"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "docker")
			asked := 0
			r.answer(func(string) int {
				asked++
				return c.status
			})
			r.says.Store(&c.body)
			code, out := r.start(t, "ok", "--key", r.key)
			expect(t, code, 0, out, fmt.Sprintf("ok    the upstream of /1.0.0/prod/ responds: %d", c.status),
				fmt.Sprintf("let through, and the upstream returned %d", c.status))
			if strings.Contains(out, "FAIL") || asked > 20 {
				t.Errorf("asked %d times:\n%s", asked, out)
			}
		})
	}
	t.Run("another such gateway", func(t *testing.T) {
		r := newRig(t, "docker")
		body := string(policy.InvalidKey.Body())
		r.answer(func(string) int { return http.StatusUnauthorized })
		r.says.Store(&body)
		code, out := r.start(t, "ok")
		expect(t, code, 0, out, "ok    the upstream of /1.0.0/prod/ responds: 401")
	})
}

func TestStartScript_upstreamUnreachable(t *testing.T) {
	r := newRig(t, "docker")
	asked := map[string]int{}
	r.answer(func(prefix string) int {
		asked[prefix]++
		if prefix == "/1.0.0/prod/" {
			return 0
		}
		return http.StatusServiceUnavailable // its own
	})
	code, out := r.start(t, "ok")
	expect(t, code, 1, out, "ok    the upstream of /1.0.0/dev/ responds: 503",
		"FAIL  the upstream of /1.0.0/prod/ does not respond: the gateway returned 502", "1 of the checks failed")
	want := map[string]int{"/1.0.0/dev/": 1, "/1.0.0/prod/": 1, "/2.0.0/prod/": 1, "/fenced/prod/": 1, "/open/prod/": 1,
		"/v3-optional/prod/": 1, "/walled/prod/": 1}
	r.locked(func() {
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("upstreams asked (-want +got):\n%s", diff)
		}
	})
}

// start.sh removes the routes that it adds for calling the upstreams.
func TestStartScript_restoredConfiguration(t *testing.T) {
	onDisk := func(r *rig) gatewayDoc {
		text, err := os.ReadFile(filepath.Join(r.folder, "gateway.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return gatewayOf(t, map[string]string{gatewayFile: string(text)})
	}
	t.Run("after asking", func(t *testing.T) {
		r := newRig(t, "docker")
		code, out := r.start(t, "ok")
		expect(t, code, 0, out)
		if n := r.loads.Load(); n != 2 {
			t.Fatalf("%d configurations loaded, want 2", n)
		}
		if diff := cmp.Diff(onDisk(r), *r.config.Load()); diff != "" {
			t.Errorf("the configuration that stays (-on disk +loaded):\n%s", diff)
		}
	})
	t.Run("refused for its size", func(t *testing.T) {
		r := newRig(t, "docker")
		r.refuses.Store(http.StatusRequestEntityTooLarge)
		code, out := r.start(t, "ok")
		expect(t, code, 0, out, "note  did not call the upstreams: the gateway returned 413")
		if n := r.loads.Load(); n != 1 {
			t.Errorf("%d configurations loaded, want 1", n)
		}
	})
	t.Run("cannot be put back", func(t *testing.T) {
		r := newRig(t, "docker")
		r.answer(func(string) int {
			r.refuses.Store(http.StatusInternalServerError)
			return http.StatusOK
		})
		code, out := r.start(t, "ok")
		expect(t, code, 1, out, "cannot restore the configuration")
	})
	t.Run("laid out otherwise", func(t *testing.T) {
		r := newRig(t, "docker")
		if err := os.WriteFile(filepath.Join(r.folder, "gateway.yaml"), []byte("services: []\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out := r.start(t, "ok")
		expect(t, code, 0, out, "note  did not call the upstreams: gateway.yaml no longer has its exported layout")
	})
}

// A key of an environment called all looks like one for every environment.
func TestStartScript_environmentNamedAll(t *testing.T) {
	in := sampleInput()
	in.Project.Versions[0].Environments[1].Name = "all"
	key := sample.Keys()["allenvs"].Plaintext
	r := newRigFor(t, in, key, "docker")
	code, out := r.start(t, "ok", "--key", r.key)
	expect(t, code, 0, out, "ok    /1.0.0/all/ with your key: let through")

	r = newRigOf(t, sampleFiles(t), key, "docker")
	code, out = r.start(t, "ok", "--key", r.key)
	expect(t, code, 0, out, "ok    /1.0.0/dev/ with your key: let through")
}

func TestStartScript_token(t *testing.T) {
	in := sampleInput()
	takeTokens(in.Project)
	at := "/" + in.Project.Versions[0].Name + "/" + in.Project.Versions[0].Environments[0].Name + "/"
	r := newRigFor(t, in, sample.Keys()["active"].Plaintext, "docker")
	token := "head.claims.signature_-"
	r.token.Store(&token)
	code, out := r.start(t, "ok", "--token", token)
	expect(t, code, 0, out, "ok    "+at+" with an invalid token: 401", "ok    "+at+" with your token: let through")
	code, out = r.startWith(t, "ok", token+"\r\n", "--token", "-", "--path", at+"status")
	expect(t, code, 0, out, "ok    "+at+"status with your token: let through")
	code, out = r.start(t, "ok", "--token", "another.token.here")
	expect(t, code, 1, out, "FAIL  "+at+" with your token: 401, refused\n")
	code, out = r.start(t, "ok", "--token", "of-an-issuer-that-is-away")
	expect(t, code, 1, out, "with your token: 503, refused, because the gateway cannot fetch the keys of its issuer")
	r.denial.Store(&policy.TokenIssuerAway)
	code, out = r.start(t, "ok")
	expect(t, code, 1, out,
		"FAIL  "+at+" with an invalid token: 503, because the introspection endpoint does not respond")
	r.denial.Store(&policy.TokenIssuerNonsense)
	code, out = r.start(t, "ok", "--token", "opaque+/~=")
	expect(t, code, 1, out,
		"FAIL  "+at+" with your token: 502, refused, because the response from the introspection endpoint is unusable")
	if strings.Contains(r.calls(t), token) {
		t.Error("the token was given to a program as an argument")
	}
}

func TestStopScript_stoppedGateway(t *testing.T) {
	r := newRig(t, "docker")
	code, out := r.start(t, "ok", "--stop")
	expect(t, code, 0, out)
	if calls := r.calls(t); !strings.Contains(calls, "|compose down\n") || strings.Contains(calls, " up ") {
		t.Errorf("calls:\n%s", calls)
	}
}

func TestStartScript_wrongUsage(t *testing.T) {
	r := newRig(t, "docker")
	for _, args := range [][]string{
		{"--nope"}, {"--key"}, {"--key", "a\"\nurl=x"}, {"--key", "-"}, {"--key-file"}, {"--key-file", "/nowhere"},
		{"--key-file", "/"}, {"--token", "x"}, {"--token"}, {"--token", "a b"},
		{"--token-file", "/nowhere"}, {"--path", "x"}, {"--path", "/a b"}, {"x"},
	} {
		if code, out := r.start(t, "ok", args...); code != 2 || !strings.Contains(out, "usage: ./start.sh") {
			t.Errorf("%q: exit status %d, output:\n%s", args, code, out)
		}
	}
	if calls := r.calls(t); calls != "" {
		t.Errorf("wrong usage got as far as\n%s", calls)
	}
}
