package kong

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/policy"
	"postern/testkit/sample"
)

// replay runs verify.sh of the sample export against a gateway that is played
// by answer: status, or 0 for 200, and code for a method and request.
func replay(t *testing.T, answer http.HandlerFunc, args ...string) (int, string) {
	t.Helper()
	return replayAt(t, sampleFiles(t), "http://127.0.0.1", answer, args...)
}

func replayOf(t *testing.T, in bundle.Input, answer http.HandlerFunc, args ...string) (int, string) {
	t.Helper()
	return replayAt(t, write(t, in), "http://127.0.0.1", answer, args...)
}

// replayAt runs the verify.sh of an export's files, with the gateway at an origin of the loopback network.
func replayAt(
	t *testing.T, files map[string]string, origin string, answer http.HandlerFunc, args ...string,
) (int, string) {
	t.Helper()
	r := newRigOf(t, files, "")
	listener, err := net.Listen("tcp", strings.TrimPrefix(origin, "http://")+":0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	command := append([]string{filepath.Join(r.folder, "..", "verify", "verify.sh")}, args...)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append(command, server.URL+"/")...)
	cmd.Env = []string{"PATH=" + r.bin}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("run verify.sh: %v", err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// recordedAnswers answers every recorded probe as recorded, and lets a key in.
func recordedAnswers(t *testing.T, key string) http.HandlerFunc {
	t.Helper()
	recorded := map[string]probe{}
	for lines := bufio.NewScanner(strings.NewReader(sampleFiles(t)[probesFile])); lines.Scan(); {
		var p probe
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(p.Needs, needsKey) {
			recorded[p.Path+"\n"+strings.Join(p.Headers, "\n")] = p
		}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var headers []string
		switch ofCustomer := strings.HasSuffix(r.Host, ".example"); {
		case ofCustomer:
			headers = []string{"Host: " + r.Host}
		case r.URL.Path == "/": // asked first, to see that something answers
			w.WriteHeader(http.StatusNotFound)
			return
		}
		for _, line := range r.Header["X-Api-Key"] {
			headers = append(headers, "X-API-Key: "+line)
		}
		for _, line := range r.Header["Authorization"] {
			headers = append(headers, "Authorization: "+line)
		}
		if len(headers) == 1 && headers[0] == "X-API-Key: "+key {
			fmt.Fprint(w, `{"of":"upstream"}`)
			return
		}
		p, ok := recorded[r.RequestURI+"\n"+strings.Join(headers, "\n")]
		if !ok {
			t.Errorf("asked for what was not recorded: %s %q", r.RequestURI, headers)
		}
		if p.Status != 0 {
			w.WriteHeader(p.Status)
		}
		_, _ = w.Write(policy.Denial{Code: p.Code, Message: "…"}.Body())
	}
}

func TestVerifyScript_everyProbe(t *testing.T) {
	code, out := replay(t, recordedAnswers(t, ""))
	expect(t, code, 0, out, "0 different, 8 left out because they need a key")
	if equal := strings.Fields(out)[0]; equal < "50" || len(equal) != 2 {
		t.Errorf("%s probes replayed, want more than 50", equal)
	}
	key := sample.Keys()["allenvs"].Plaintext
	code, out = replay(t, recordedAnswers(t, key), "--key", key)
	expect(t, code, 0, out, "0 different, 0 left out")
	key = sample.Keys()["dev"].Plaintext
	code, out = replay(t, recordedAnswers(t, key), "--key", key)
	expect(t, code, 0, out, "0 different, 6 left out")
}

// A key of an environment called all looks like one for every environment, and
// must not be tried on the others.
func TestVerifyScript_environmentNamedAll(t *testing.T) {
	in := sampleInput()
	in.Project.Versions[0].Environments[1].Name = "all"
	key := sample.Keys()["allenvs"].Plaintext
	tried := map[string]bool{}
	_, _ = replayOf(t, in, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == key {
			tried[r.URL.Path] = true
		}
	}, "--key", key)
	if diff := cmp.Diff(map[string]bool{"/1.0.0/all/": true, "/shop/1.0.0/all/": true}, tried); diff != "" {
		t.Errorf("the key was tried at (-want +got):\n%s", diff)
	}
}

func TestVerifyScript_difference(t *testing.T) {
	good := recordedAnswers(t, "")
	code, out := replay(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == "not-a-key" && strings.HasPrefix(r.URL.Path, "/1.0.0/prod") {
			return // lets it through
		}
		good(w, r)
	})
	expect(t, code, 1, out, "1.0.0~prod:malformed_key\n- 401 invalid_key\n+ 200 \n", "1 different")
	code, out = replay(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write(policy.CredentialsRequired.Body())
	})
	expect(t, code, 1, out, "open~prod:no_credentials\n- upstream \n+ 401 credentials_required")
}

// A gateway whose upstreams do not answer is not equal to one whose upstreams do.
func TestVerifyScript_upstreamAnswers(t *testing.T) {
	good := recordedAnswers(t, "")
	for name, c := range map[string]struct {
		status int
		body   string
		equal  bool
	}{
		"gateway's 502":                 {http.StatusBadGateway, kongNoUpstream, false},
		"gateway's 503":                 {http.StatusServiceUnavailable, kongNoAddress, false},
		"gateway's 504":                 {http.StatusGatewayTimeout, kongTimeout, false},
		"hosted gateway's 502":          {http.StatusBadGateway, string(policy.UpstreamUnreachable.Body()), false},
		"key of a frozen user":          {http.StatusForbidden, string(policy.UserFrozen.Body()), false},
		"refused path":                  {http.StatusBadRequest, string(policy.BadPath.Body()), false},
		"upstream's 503":                {http.StatusServiceUnavailable, `{"message":"closed on Sundays"}`, true},
		"upstream's own code":           {http.StatusForbidden, `{"message":"Ask.","code":"key_frozen"}`, true},
		"upstream's 500 with a number":  {http.StatusInternalServerError, `{"request_id":"mine"}`, true},
		"upstream's 404 of a like name": {http.StatusNotFound, `{"message":"gone","request_id":"mine"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			code, out := replay(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/open/prod/") {
					w.WriteHeader(c.status)
					fmt.Fprint(w, c.body)
					return
				}
				good(w, r)
			})
			if c.equal {
				expect(t, code, 0, out, "0 different")
				return
			}
			difference := fmt.Sprintf("open~prod:no_credentials\n- upstream \n+ %d ", c.status)
			expect(t, code, 1, out, difference, "1 different")
		})
	}
}

// runVerify runs verify.sh of the sample export with variables of the environment.
func runVerify(t *testing.T, input string, env []string, args ...string) (int, string) {
	t.Helper()
	r := newRigOf(t, sampleFiles(t), "")
	script := filepath.Join(r.folder, "..", "verify", "verify.sh")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{script}, args...)...)
	cmd.Env = slices.Concat(env, []string{"PATH=" + r.bin})
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatalf("run verify.sh: %v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestVerifyScript_address(t *testing.T) {
	code, out := runVerify(t, "", []string{"KONG_PROXY_PORT=" + serve(t, recordedAnswers(t, ""))})
	expect(t, code, 0, out, "0 different")
}

func TestVerifyScript_keyFrom(t *testing.T) {
	key := sample.Keys()["allenvs"].Plaintext
	file := filepath.Join(t.TempDir(), "a key")
	port := "KONG_PROXY_PORT=" + serve(t, recordedAnswers(t, key))
	for name, c := range map[string]struct {
		file, input string
		env         []string
		args        []string
	}{
		"a file":              {file: key, args: []string{"--key-file", file}},
		"a file from Windows": {file: key + "\r\n", args: []string{"--key-file", file}},
		"the standard input":  {input: key + "\n", args: []string{"--key", "-"}},
		"the environment":     {env: []string{"POSTERN_KEY=" + key}},
	} {
		t.Run(name, func(t *testing.T) {
			writeKey(t, file, c.file)
			code, out := runVerify(t, c.input, append(c.env, port), c.args...)
			expect(t, code, 0, out, "0 different, 0 left out")
		})
	}
}

func TestVerifyScript_noGateway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	code, out := runVerify(t, "", nil, base)
	expect(t, code, 1, out, "verify.sh: nothing responds at "+base)
	if strings.Contains(out, "different") {
		t.Errorf("differences are listed though nothing responds:\n%s", out)
	}
}

// The path just behind one address can be below a shorter one, and is answered
// by its environment then.
func TestProbes_versionNamedAsProject(t *testing.T) {
	in := sampleInput()
	in.Project.Versions[3].Name = in.Project.Name
	in.Project.Versions[3].Environments[0].Name = in.Project.Name
	in.Project.Versions[2].Name = "dev"
	in.Project.Versions[5].Name, in.Project.Versions[5].Environments[0].Name = "dev2", "prod"
	files := write(t, in)
	boundaries := 0
	for line := range strings.Lines(files[probesFile]) {
		var p probe
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		if p.Status != http.StatusNotFound {
			continue
		}
		boundaries++
		for _, s := range gatewayOf(t, files).Services {
			for _, r := range s.Routes {
				if len(r.Hosts) == 0 &&
					regexp.MustCompile("^"+strings.TrimPrefix(r.Paths[0], "~")).MatchString(p.Path) {
					t.Errorf("%s expects 404 of %s, which the route %s takes", p.ID, p.Path, r.Name)
				}
			}
		}
	}
	if boundaries == 0 {
		t.Error("no probe expects 404")
	}
}

func TestVerifyScript_wrongUsage(t *testing.T) {
	for _, args := range [][]string{{"--nope"}, {"--key", "a b"}, {"--key", ""}, {"--key-file", "/nowhere"},
		{"--key-file", "/"}, {"--key-file", "/dev/null"}, {"--key", "-"}} {
		if code, out := replay(t, func(http.ResponseWriter, *http.Request) {}, args...); code != 2 {
			t.Errorf("%q: exit status %d, output:\n%s", args, code, out)
		}
	}
}

func TestScripts_shellcheck(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Fatalf("shellcheck is missing (Debian: apt-get install shellcheck): %v", err)
	}
	files := sampleFiles(t)
	scripts := 0
	for name, text := range files {
		if !strings.HasSuffix(name, ".sh") {
			continue
		}
		scripts++
		cmd := exec.Command(shellcheck, "-s", "sh", "-")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if scripts != 3 {
		t.Errorf("%d scripts in the export, want add-key.sh, start.sh and verify.sh", scripts)
	}
	for _, path := range []string{"testdata/runtime/standin", "../../tools/kong-docker"} {
		if out, err := exec.Command(shellcheck, path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}

// A probe that spends a counted call of the fallback owner is sent only where that is asked for.
func TestVerify_counted(t *testing.T) {
	good := recordedAnswers(t, "")
	for flag, want := range map[string]int{"": 0, "--counted": 2} {
		spent := 0
		args := strings.Fields(flag)
		code, out := replay(t, func(w http.ResponseWriter, r *http.Request) {
			if len(r.Header["X-Api-Key"])+len(r.Header["Authorization"]) == 0 &&
				strings.HasSuffix(r.URL.Path, "/2.0.0/prod/") {
				spent++
			}
			good(w, r)
		}, args...)
		expect(t, code, 0, out, "0 different")
		if spent != want || strings.Contains(out, "2 left out because they count toward") != (want == 0) {
			t.Errorf("%q spends %d calls, want %d:\n%s", flag, spent, want, out)
		}
	}
}
