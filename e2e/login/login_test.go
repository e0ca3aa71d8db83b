package login

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/browser"
)

// TestCommandLine_browser creates a proxy without an account, signs
// the command line in by a code that is approved in a real browser, claims the
// proxy and signs out.
func TestCommandLine_browser(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := harness.Start(t)
	shell := newShell(t, server.Config.PublicURL)
	made := shell.runs("create", "--target", upstream.URL, "--name", "shop", "--require-key")
	key, address := find(t, made, `API key +(\w+)`), find(t, made, `(http://\S+/shop/1\.0\.0/prod)`)

	p := harness.NewPerson(t)
	p.Open(server.FirstLink)
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Sees("Projects")

	login := shell.begins("login", "--name", "ana@laptop")
	p.Open(login.reads(`or open (http://\S+)`))
	p.Sees("Allow the Postern CLI to act as you?")
	p.Reaches(`//dd[.="ana@laptop"]`)
	p.Presses("Allow")
	p.Sees("ana@laptop is signed in")
	if said := login.ends(); !strings.Contains(said, "as ana@example.com until") ||
		!strings.Contains(said, "Created on this machine without an account: shop") {
		t.Errorf("login says\n%s", said)
	}
	shell.runs("whoami")
	if said := shell.runs("claim", "--team", "Ana"); !strings.Contains(said, "Claimed shop for the team Ana") {
		t.Errorf("claim says\n%s", said)
	}
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	p.Open(server.Config.PublicURL)
	p.Sees("Projects")
	p.Reaches(`//a[contains(., "shop")]`)

	p.Open(server.Config.PublicURL + "/settings/tokens")
	p.Reaches(`//tr[contains(., "ana@laptop")][contains(., "command line")]`)
	p.Follows("Revoke")
	confirms(p, "Revoke")
	p.Reaches(`//*[@role="status"][contains(., "Revoked the token ana@laptop")]`)
	if code, said := shell.exits("whoami"); code != 3 {
		t.Errorf("whoami with a revoked token: exit %d\n%s", code, said)
	}

	login = shell.begins("login")
	p.ForbidsScripts()
	p.Open(server.Config.PublicURL + "/device")
	p.Types("user_code", strings.ToLower(login.reads(`(?m)^ {4}([A-Z-]{9})$`)))
	p.Presses("Continue")
	p.Sees("Allow the Postern CLI to act as you?")
	p.Presses("Allow")
	login.ends()
	shell.runs("projects", "show", "shop")
	shell.runs("logout")
	if code, said := shell.exits("whoami"); code != 3 {
		t.Errorf("whoami after logout: exit %d\n%s", code, said)
	}
}

// confirms ticks the box of the question in the dialog and presses its button.
func confirms(p *harness.Person, button string) {
	p.T.Helper()
	p.Does("tick the box", chromedp.Click(chromedp.CSS("#dialog [name=confirm]"), browser.Steady))
	p.Presses(button)
}

// shell runs the program as one user of one server.
type shell struct {
	t       *testing.T
	program string
	environ []string
}

func newShell(t *testing.T, server string) *shell {
	t.Helper()
	return &shell{
		t:       t,
		program: harness.Program(t),
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
