package e2e

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"postern/testkit"
)

// TestACommandLineSignsInThroughABrowser creates a proxy without an account, signs
// the command line in by a code that is approved in a real browser, claims the
// proxy and signs out.
func TestACommandLineSignsInThroughABrowser(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := start(t)
	shell := newShell(t, server.Config.PublicURL)
	made := shell.runs("create", "--target", upstream.URL, "--name", "shop", "--require-key")
	key, address := find(t, made, `API key (\w+)`), find(t, made, `(http://\S+/shop/1\.0\.0/prod)`)

	p := sit(t)
	p.open(server.FirstLink)
	p.types("email", "ana@example.com")
	p.types("name", "Ana")
	p.types("password", "four unrelated words")
	p.presses("Create account and sign in")
	p.sees("Projects")

	login := shell.begins("login", "--name", "ana@laptop")
	p.open(login.reads(`or open (http://\S+)`))
	p.sees("Let this command line act as you?")
	p.reaches(`//dd[.="ana@laptop"]`)
	p.presses("Allow")
	p.sees("ana@laptop is signed in")
	if said := login.ends(); !strings.Contains(said, "as ana@example.com until") ||
		!strings.Contains(said, "Made here without an account: shop") {
		t.Errorf("login says\n%s", said)
	}
	shell.runs("whoami")
	if said := shell.runs("claim", "--team", "Ana"); !strings.Contains(said, "Claimed shop into the team Ana") {
		t.Errorf("claim says\n%s", said)
	}
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	p.open(server.Config.PublicURL)
	p.sees("Projects")
	p.reaches(`//a[contains(., "shop")]`)

	p.open(server.Config.PublicURL + "/settings/tokens")
	p.reaches(`//tr[contains(., "ana@laptop")][contains(., "command line")]`)
	p.follows("Revoke")
	p.confirms("Revoke")
	p.reaches(`//*[@role="status"][contains(., "ana@laptop is revoked")]`)
	if code, said := shell.exits("whoami"); code != 3 {
		t.Errorf("whoami with a revoked token: exit %d\n%s", code, said)
	}

	login = shell.begins("login")
	p.forbidsScripts()
	p.open(server.Config.PublicURL + "/device")
	p.types("user_code", strings.ToLower(login.reads(`(?m)^ {4}([A-Z-]{9})$`)))
	p.presses("Continue")
	p.sees("Let this command line act as you?")
	p.presses("Allow")
	login.ends()
	shell.runs("projects", "show", "shop")
	shell.runs("logout")
	if code, said := shell.exits("whoami"); code != 3 {
		t.Errorf("whoami after logout: exit %d\n%s", code, said)
	}
}

// shell runs the program as one user of one server.
type shell struct {
	t       *testing.T
	program string
	environ []string
}

func newShell(t *testing.T, server string) *shell {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return &shell{
		t:       t,
		program: program,
		environ: append(os.Environ(), "POSTERN_SERVER="+server, "POSTERN_CONFIG_DIR="+t.TempDir(), "POSTERN_TOKEN="),
	}
}

func (s *shell) exits(args ...string) (code int, said string) {
	s.t.Helper()
	command := exec.Command(s.program, args...)
	command.Env = s.environ
	out, err := command.CombinedOutput()
	if command.ProcessState == nil {
		s.t.Fatalf("postern %s: %v", args[0], err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

func (s *shell) runs(args ...string) (said string) {
	s.t.Helper()
	code, said := s.exits(args...)
	if code != 0 {
		s.t.Fatalf("postern %s: exit %d\n%s", args[0], code, said)
	}
	return said
}

// running is a command whose output is read while it runs.
type running struct {
	t       *testing.T
	command *exec.Cmd
	lines   *bufio.Reader
	said    strings.Builder
}

func (s *shell) begins(args ...string) *running {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), s.program, args...)
	command.Env = s.environ
	out, err := command.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	return &running{t: s.t, command: command, lines: bufio.NewReader(out)}
}

// reads returns the group of a pattern, as soon as it has been printed.
func (r *running) reads(pattern string) string {
	r.t.Helper()
	wanted := regexp.MustCompile(pattern)
	for {
		if found := wanted.FindStringSubmatch(r.said.String()); found != nil {
			return found[1]
		}
		line, err := r.lines.ReadString('\n')
		r.said.WriteString(line)
		if err != nil {
			r.t.Fatalf("it said no %s: %v\n%s", pattern, err, r.said.String())
		}
	}
}

// ends waits for a good end, and returns all that was said.
func (r *running) ends() string {
	r.t.Helper()
	rest, err := io.ReadAll(r.lines)
	r.said.Write(rest)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.command.Wait(); err != nil {
		r.t.Fatalf("it ended with %v\n%s", err, r.said.String())
	}
	return r.said.String()
}

func find(t *testing.T, text, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no %s in\n%s", pattern, text)
	}
	return found[1]
}
