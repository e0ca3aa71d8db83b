// Package tools_test tests the shell scripts of this directory.
//
// tools/setup runs on machines made of stand-ins, since it is for machines that lack
// what the tests need, and the tests never run on one.
package tools_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a directory with the commands and files a fabricated machine has.
type machine struct {
	t    *testing.T
	root string
}

// newMachine has the shell, its usual commands and Go; user is what `id -u` says.
func newMachine(t *testing.T, user string) *machine {
	m := &machine{t: t, root: t.TempDir()}
	for _, name := range []string{
		"bash", "sh", "cat", "chmod", "cmp", "cp", "cut", "dirname", "env", "gzip", "mkdir",
		"mktemp", "mv", "rm", "sed", "sha256sum", "sort", "tar", "tee", "touch", "tr",
	} {
		real, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		m.must(os.MkdirAll(filepath.Join(m.root, "bin"), 0o755))
		m.must(os.Symlink(real, filepath.Join(m.root, "bin", name)))
	}
	m.command("go", `[ "$1" = install ] || exit 0
echo "go $*" >>"$MACHINE/log"
mkdir -p "$GOBIN"
module=${2%@*}
cp "$0" "$GOBIN/${module##*/}"`)
	m.command("id", "echo "+user)
	script, err := os.ReadFile("setup")
	m.must(err)
	m.write("project/tools/setup", string(script))
	m.write("project/package-lock.json", "{}")
	m.write("project/testkit/idp/package-lock.json", `{"name":"issuers"}`)
	m.write("project/testkit/verifiers/package-lock.json", `{"name":"typescript"}`)
	for _, of := range []string{"testkit/verifiers", "tools/bench", "tools/load"} {
		m.write("project/"+of+"/requirements.txt", "scim2-tester==1\n")
	}
	m.must(os.MkdirAll(filepath.Join(m.root, "sys/usr/sbin"), 0o755))
	m.pin()
	return m
}

// pin puts two distributions of Keycloak where Maven will find them, and pins them and the servers in Go.
func (m *machine) pin() {
	m.t.Helper()
	m.write("project/testkit/servers/pinned", fmt.Sprintf(
		"pebble=v1.2.3\nversitygw=v4.5.6\nopenfga=v7.8.9\ngrpc_interop=v2.3.4\ngrpcurl=v5.6.7\n"+
			"keycloak=1.2.3\nkeycloak_sha256=%x\nnewer_keycloak=1.3.0\nnewer_keycloak_sha256=%x\n",
		m.distribution("1.2.3"), m.distribution("1.3.0"),
	))
}

// distribution returns the sum of a distribution of Keycloak.
func (m *machine) distribution(version string) [sha256.Size]byte {
	m.t.Helper()
	m.write("maven/keycloak-"+version+"/bin/kc.sh", "#!/bin/sh\n"+`echo "kc.sh $*" >>"$MACHINE/log"`+"\n")
	archive := "maven/keycloak-quarkus-dist-" + version + ".tar.gz"
	pack := exec.Command(
		"tar", "-czf", filepath.Join(m.root, archive), "-C", filepath.Join(m.root, "maven"), "keycloak-"+version,
	)
	out, err := pack.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(filepath.Join(m.root, archive))
	m.must(err)
	return sha256.Sum256(content)
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) write(name, content string) {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	m.must(os.MkdirAll(filepath.Dir(path), 0o755))
	m.must(os.WriteFile(path, []byte(content), 0o755))
}

// command adds a stand-in for a command, written in shell. It finds the
// machine's directory in $MACHINE.
func (m *machine) command(name, script string) {
	m.t.Helper()
	m.write("bin/"+name, "#!/bin/sh\n"+script+"\n")
}

// aptGet adds a package manager that notes what it is asked and whether a
// service could start at that time, and then installs what Debian's packages hold.
func (m *machine) aptGet(end string) {
	m.t.Helper()
	m.command("npm", `echo "npm $* in ${PWD##*/}" >>"$MACHINE/log"; mkdir -p node_modules`)
	npm := filepath.Join(m.root, "bin/npm")
	m.must(os.Rename(npm, npm+".package"))
	m.command("mvn.package", `echo "mvn $*" >>"$MACHINE/log"
for last; do :; done
version=${*#*quarkus-dist:}
cp "$MACHINE/maven/keycloak-quarkus-dist-${version%%:*}.tar.gz" "${last#-DoutputDirectory=}"`)
	m.command("python.package", `[ "$1" = -m ] || exit 0
for last; do :; done
mkdir -p "$last/bin"
printf '#!/bin/sh\necho "pip $*" >>"$MACHINE/log"\n' >"$last/bin/pip"
chmod 755 "$last/bin/pip"`)
	m.command("apt-get", `
echo "apt-get $*" >>"$MACHINE/log"
case "$*" in *update*) exit 0 ;; esac
"$MACHINE/sys/usr/sbin/policy-rc.d"; echo "a service may start: $?" >>"$MACHINE/log"
cd "$MACHINE/bin"
for name in git node gcc haproxy luajit nginx pgbouncer prometheus promtool redis-server shellcheck \
	curl java chromium-headless-shell wrk h2load apache2; do
	printf '#!/bin/sh\n' >$name
	chmod 755 $name
done
printf 'echo v18.20.4\n' >>node
printf 'echo "openjdk version \\"17.0.15\\" 2025-04-15" >&2\n' >>java
cp mvn.package mvn
cp npm.package npm
cp python.package python3
for file in lib/postgresql/15/bin/initdb lib/nginx/modules/ngx_http_lua_module.so \
  share/fonts/truetype/dejavu/DejaVuSans.ttf; do
  mkdir -p "$(dirname "$MACHINE/sys/usr/$file")"; touch "$MACHINE/sys/usr/$file"
done
`+end)
}

// setup runs tools/setup and returns what it wrote and its exit code.
func (m *machine) setup(args ...string) (output string, code int) {
	m.t.Helper()
	cmd := exec.Command(filepath.Join(m.root, "project/tools/setup"), args...)
	cmd.Env = []string{
		"PATH=" + filepath.Join(m.root, "bin"),
		"HOME=" + m.root,
		"MACHINE=" + m.root,
		"POSTERN_SYSROOT=" + filepath.Join(m.root, "sys"),
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (m *machine) log() string {
	m.t.Helper()
	content, err := os.ReadFile(filepath.Join(m.root, "log"))
	if !errors.Is(err, os.ErrNotExist) {
		m.must(err)
	}
	return string(content)
}

func (m *machine) policy() string { return filepath.Join(m.root, "sys/usr/sbin/policy-rc.d") }

func TestSetup_debian(t *testing.T) {
	m := newMachine(t, "0")
	m.aptGet("")
	if out, code := m.setup(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	log := m.log()
	for _, want := range []string{
		" update\n",
		"install --no-install-recommends ca-certificates chromium-headless-shell curl default-jre-headless " +
			"fonts-dejavu-core gcc git haproxy libc6-dev " +
			"libnginx-mod-http-lua luajit2 maven nginx-light nodejs npm pgbouncer postgresql prometheus " +
			"python3 python3-venv redis-server shellcheck\n",
		"a service may start: 101\n",
		"--no-fund in project\n",
		"--no-fund in idp\n",
		"--no-fund in verifiers\n",
		"--only-binary :all: -r testkit/verifiers/requirements.txt\n",
		":copy -Dartifact=org.keycloak:keycloak-quarkus-dist:1.2.3:tar.gz ",
		":copy -Dartifact=org.keycloak:keycloak-quarkus-dist:1.3.0:tar.gz ",
		"kc.sh build --db=dev-mem\n",
		"go install github.com/letsencrypt/pebble/v2/cmd/pebble@v1.2.3\n",
		"go install github.com/versity/versitygw/cmd/versitygw@v4.5.6\n",
		"go install github.com/openfga/openfga/cmd/openfga@v7.8.9\n",
		"go install google.golang.org/grpc/interop/client@v2.3.4\n",
		"go install google.golang.org/grpc/interop/server@v2.3.4\n",
		"go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v5.6.7\n",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("%q was not done:\n%s", want, log)
		}
	}
	if _, err := os.Lstat(m.policy()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("services still may not start afterward: %v", err)
	}

	if out, code := m.setup(); code != 0 || out != "" {
		t.Errorf("a second time: exit %d, %q; want nothing to do", code, out)
	}
	if m.log() != log {
		t.Errorf("a second time, this was done:\n%s", strings.TrimPrefix(m.log(), log))
	}
	for _, purpose := range []string{"bench", "load"} {
		out, code := m.setup(purpose)
		more := strings.TrimPrefix(m.log(), log)
		log += more
		if code != 0 || !strings.Contains(more, "-r tools/"+purpose+"/requirements.txt\n") ||
			strings.Contains(more, "mvn") || strings.Contains(more, "npm") {
			t.Errorf("%s on the same machine: exit %d, %q, and this was done:\n%s", purpose, code, out, more)
		}
		if out, code := m.setup(purpose); code != 0 || out != "" || m.log() != log {
			t.Errorf("%s a second time: exit %d, %q", purpose, code, out)
		}
	}
}

func TestSetup_node(t *testing.T) {
	for script, ok := range map[string]bool{
		"echo v18.0.0": true, "echo v20.20.2": true, "echo v100.0.0": true,
		"echo v16.20.2": false, "echo v8.17.0": false, "exit 1": false, "echo node": false,
	} {
		m := newMachine(t, "0")
		m.aptGet("")
		if out, code := m.setup(); code != 0 {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		m.command("node", script)
		m.command("apt-get", "exit 0")
		out, code := m.setup()
		if (code == 0) != ok || strings.Contains(out, "Node.js 18 or newer") == ok ||
			strings.Contains(out, "too old") == ok {
			t.Errorf("node is %q: exit %d:\n%s", script, code, out)
		}
	}
}

func TestSetup_java(t *testing.T) {
	for version, ok := range map[string]bool{
		"17.0.15":   true,
		"21":        true,
		"11.0.2":    false,
		"1.8.0_412": false,
		"":          false,
	} {
		m := newMachine(t, "0")
		m.aptGet("")
		if out, code := m.setup(); code != 0 {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		m.command("java", `echo 'openjdk version "`+version+`" 2025-04-15' >&2`)
		m.command("apt-get", "exit 0")
		if out, code := m.setup(); (code == 0) != ok || strings.Contains(out, "Java 17 or newer") == ok {
			t.Errorf("Java is %q: exit %d:\n%s", version, code, out)
		}
	}
}

// Downloads from Maven are not unpacked, let alone run, unless they are the pinned ones.
func TestSetup_otherKeycloak(t *testing.T) {
	m := newMachine(t, "0")
	m.aptGet("")
	m.write("maven/keycloak-quarkus-dist-1.2.3.tar.gz", "something else")
	if out, code := m.setup(); code == 0 || strings.Contains(m.log(), "kc.sh") {
		t.Errorf("exit %d:\n%s\n%s", code, out, m.log())
	}
	if found, err := os.ReadDir(filepath.Join(m.root, ".cache/postern")); err != nil || len(found) > 0 {
		t.Errorf("it left %v, %v", found, err)
	}
}

func TestSetup_servicePolicy(t *testing.T) {
	for end, wantCode := range map[string]int{"": 0, "exit 9": 9} {
		m := newMachine(t, "0")
		m.aptGet(end)
		const own = "#!/bin/sh\nexit 0\n"
		m.write("sys/usr/sbin/policy-rc.d", own)
		if out, code := m.setup(); code != wantCode {
			t.Errorf("apt-get ends with %q: exit %d:\n%s", end, code, out)
		}
		if log := m.log(); !strings.Contains(log, "a service may start: 101\n") {
			t.Errorf("services could start during the installation:\n%s", log)
		}
		after, err := os.ReadFile(m.policy())
		if err != nil || string(after) != own {
			t.Errorf("apt-get ends with %q: the machine's policy is now %q, %v", end, after, err)
		}
	}
}

func TestSetup_failedInstallation(t *testing.T) {
	tests := map[string]struct {
		user     string
		aptGet   bool
		aptFails bool
		tells    string
	}{
		"no apt-get": {user: "0", tells: "Install it and run this again"},
		"neither root nor sudo": {user: "1000", aptGet: true,
			tells: "apt-get install ca-certificates chromium-headless-shell curl"},
		"packages without effect": {user: "0", aptFails: true, tells: "still missing or too old"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, tt.user)
			if tt.aptGet {
				m.aptGet("")
			}
			if tt.aptFails {
				m.command("apt-get", "exit 0")
			}
			out, code := m.setup()
			if code != 1 {
				t.Errorf("exit %d, want 1", code)
			}
			for _, want := range []string{
				"Node.js", "C compiler", "PostgreSQL server", "nginx with its Lua module", "LuaJIT",
				"Redis", "shellcheck", "curl", "Java 17", "Maven", "Python 3.11", "Chromium", "TrueType", tt.tells,
			} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not said:\n%s", want, out)
				}
			}
			if log := m.log(); log != "" {
				t.Errorf("something was installed:\n%s", log)
			}
		})
	}
}

func TestSetup_unknownPurpose(t *testing.T) {
	if out, code := newMachine(t, "0").setup("tset"); code != 2 || !strings.Contains(out, "tset") {
		t.Errorf("exit %d, %q; want 2 and the word", code, out)
	}
}

func TestScripts_shellcheck(t *testing.T) {
	scripts := []string{"setup", "generate", "format", "check", "test", "fuzz", "kong-docker", "build", "release-check",
		"lint/installed", "../.ci/run",
		"../deploy/packages/postinstall.sh", "../deploy/packages/preremove.sh", "../deploy/packages/postremove.sh"}
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) {
			if out, err := exec.Command("shellcheck", script).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
