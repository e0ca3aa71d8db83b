package harness

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"postern/testkit"
)

// StartWithin is generous: it is where the test gives up, not what is expected.
const StartWithin = time.Minute

// Process is a running `postern serve`.
type Process struct {
	URL     string // of the control plane
	Gateway string
	Command *exec.Cmd
	Errors  *testkit.LogBuffer // its log
	Gone    chan struct{}      // closed when it has ended
	found   chan string        // the addresses that it announces
}

var announcement = regexp.MustCompile(`(Dashboard|Gateway)\s+(http://\S+)`)

// Serve starts the program with more variables in its environment, and returns when it says
// that it is ready. If it still runs when the test ends, it is killed.
func Serve(t *testing.T, dataDir, databaseURL string, environment ...string) *Process {
	t.Helper()
	return ServeUnder(t, nil, dataDir, databaseURL, environment...)
}

// ServeUnder is Serve by a program that becomes the one whose arguments follow its own.
func ServeUnder(t *testing.T, wrapper []string, dataDir, databaseURL string, environment ...string) *Process {
	t.Helper()
	p := Launch(t, wrapper, dataDir, databaseURL, environment...)
	p.announced(t)
	return p
}

// ServePlain is Serve by PlainProgram.
func ServePlain(t *testing.T, dataDir, databaseURL string, environment ...string) *Process {
	t.Helper()
	p := launch(t, []string{PlainProgram(t)}, dataDir, databaseURL, environment)
	p.announced(t)
	return p
}

// Launch starts the program and doesn't wait until it is ready.
func Launch(t *testing.T, wrapper []string, dataDir, databaseURL string, environment ...string) *Process {
	t.Helper()
	return launch(t, append(slices.Clone(wrapper), Program(t)), dataDir, databaseURL, environment)
}

func launch(t *testing.T, program []string, dataDir, databaseURL string, environment []string) *Process {
	t.Helper()
	p := &Process{Errors: &testkit.LogBuffer{}, Gone: make(chan struct{}), found: make(chan string, 2)}
	p.Command = exec.Command(program[0], append(program[1:], "serve", "--data-dir", dataDir)...)
	p.Command.Env = slices.Concat(
		os.Environ(),
		[]string{
			"POSTERN_DATABASE_URL=" + databaseURL,
			"POSTERN_DRAIN=0s",
			"POSTERN_CONTROL_ADDR=127.0.0.1:0",
			"POSTERN_GATEWAY_ADDR=127.0.0.1:0",
		},
		environment,
	)
	p.Command.Stderr = p.Errors
	out, err := p.Command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := announcement.FindStringSubmatch(lines.Text()); m != nil {
				p.found <- m[2]
			}
		}
		_ = p.Command.Wait() // how it ended is in Command.ProcessState
		close(p.Gone)
	}()
	t.Cleanup(func() {
		p.End(t, syscall.SIGKILL)
		if strings.Contains(p.Errors.String(), "WARNING: DATA RACE") {
			t.Errorf("postern serve has a data race:\n%s", p.Errors)
		}
	})
	return p
}

// announced returns when the process says that it is ready.
func (p *Process) announced(t *testing.T) {
	t.Helper()
	for _, address := range []*string{&p.URL, &p.Gateway} { // in the order that they are announced
		select {
		case *address = <-p.found:
		case <-p.Gone:
			t.Fatalf("postern serve ended:\n%s", p.Errors)
		case <-time.After(StartWithin):
			t.Fatalf("postern serve is not ready after %s:\n%s", StartWithin, p.Errors)
		}
	}
}

// End sends a signal and returns when the process has ended.
func (p *Process) End(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := p.Command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal postern serve: %v", err)
	}
	<-p.Gone
}
