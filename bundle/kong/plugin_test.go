package kong

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/core/policy"
)

// The plugin runs in LuaJIT against a stand-in for Kong's PDK that fails on
// every call and field it does not know.
func TestPlugin_units(t *testing.T) {
	specs, err := filepath.Glob("testdata/lua/*_spec.lua")
	if err != nil || len(specs) < 7 {
		t.Fatalf("specs %q, error %v", specs, err)
	}
	for _, path := range specs {
		spec := filepath.Base(path)
		t.Run(spec, func(t *testing.T) { runSpec(t, spec) })
	}
}

func runSpec(t *testing.T, spec string) {
	t.Helper()
	luajit, err := exec.LookPath("luajit")
	if err != nil {
		t.Fatalf("LuaJIT is missing (Debian: apt-get install luajit2): %v", err)
	}
	folder, err := filepath.Abs("testdata/lua")
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := filepath.Abs("plugin")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(luajit, spec)
	cmd.Dir = folder
	cmd.Env = []string{"LUA_PATH=" + folder + "/?.lua;" + plugin + "/?.lua"}
	var failures bytes.Buffer
	cmd.Stderr = &failures
	out, runErr := cmd.Output()
	plan, checks := "", 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "not ok"):
			t.Error(line)
			checks++
		case strings.HasPrefix(line, "ok"):
			checks++
		case strings.HasPrefix(line, "1.."):
			plan = line
		}
	}
	if runErr != nil || plan == "" || checks == 0 {
		t.Errorf("%s: %v, plan %q, %d checks\n%s", spec, runErr, plan, checks, failures.String())
	}
	t.Logf("%s: %d checks", spec, checks)
}

// The plugin's answers are those of the hosted gateway, except the ones that only the plugin has.
func TestPlugin_answers(t *testing.T) {
	source, err := files.ReadFile("plugin/answers.lua")
	if err != nil {
		t.Fatal(err)
	}
	own := []string{
		"ownership_unavailable", "too_many_headers", "malformed_connection", "upstream_credentials_missing",
	}
	want := map[string]bool{}
	for _, d := range policy.Denials() {
		want[fmt.Sprintf("%d %s %s", d.Status, d.Body(), d.Challenge())] = true
	}
	names := regexp.MustCompile(`(?m)^  ([a-z_]+) = \{`).FindAllSubmatch(source, -1)
	if len(names) < 30 {
		t.Fatalf("only %d answers are found", len(names))
	}
	for _, found := range names {
		name := string(found[1])
		answer, err := exec.Command("luajit", "-e", `
			kong = { response = { exit = function(status, body, headers)
				io.write(status, " ", body, " ", headers["WWW-Authenticate"] or "")
			end } }
			dofile("plugin/answers.lua").refuse("`+name+`")`).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, answer)
		}
		if !want[string(answer)] && !slices.Contains(own, name) {
			t.Errorf("%s: the hosted gateway doesn't answer %s", name, answer)
		}
	}
}

// The plugin joins the values of the headers that the hosted gateway keeps in one line, and of no others.
func TestPlugin_oneLine(t *testing.T) {
	source, err := files.ReadFile("plugin/transforms.lua")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := bytes.Cut(source, []byte("local ONE_LINE = {"))
	list, _, _ = bytes.Cut(list, []byte("}"))
	joined := map[string]bool{}
	for _, m := range regexp.MustCompile(`\["([a-z-]+)"\] = true`).FindAllSubmatch(list, -1) {
		joined[string(m[1])] = true
		if !policy.HasOneLine(string(m[1])) {
			t.Errorf("the plugin joins %s, the hosted gateway does not", m[1])
		}
	}
	for _, name := range policy.OneLine {
		if !joined[name] {
			t.Errorf("the hosted gateway joins %s, the plugin does not", name)
		}
	}
}
