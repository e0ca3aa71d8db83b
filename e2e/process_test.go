package e2e

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"postern/testkit"
)

// startWithin is generous: it is where the test gives up, not what is expected.
const startWithin = time.Minute

// built is the program, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "postern-e2e-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "postern")
	out, err := exec.Command("go", "build", "-o", program, "postern/cmd/postern").CombinedOutput()
	if err != nil {
		return "", errors.Join(errors.New(string(out)), err)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if program, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

// process is a running `postern serve`.
type process struct {
	URL     string // of the control plane
	Gateway string
	command *exec.Cmd
	errors  *testkit.LogBuffer
	gone    chan struct{} // closed when it has ended
	found   chan string   // the addresses that it announces
}

var announcement = regexp.MustCompile(`(Dashboard|Gateway)\s+(http://\S+)`)

// serve starts the program, with the environment's variables beside the database, and
// returns when it says that it is ready. What of it is still there when the test ends
// is killed.
func serve(t *testing.T, dataDir, databaseURL string, environment ...string) *process {
	t.Helper()
	return serveUnder(t, nil, dataDir, databaseURL, environment...)
}

// serveUnder is serve by a program that becomes the one whose arguments follow its own.
func serveUnder(t *testing.T, wrapper []string, dataDir, databaseURL string, environment ...string) *process {
	t.Helper()
	p := launch(t, wrapper, dataDir, databaseURL, environment...)
	p.announced(t)
	return p
}

// launch starts the program, which may not come to be ready.
func launch(t *testing.T, wrapper []string, dataDir, databaseURL string, environment ...string) *process {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{errors: &testkit.LogBuffer{}, gone: make(chan struct{}), found: make(chan string, 2)}
	line := append(slices.Clone(wrapper), program, "serve", "--data-dir", dataDir)
	p.command = exec.Command(line[0], line[1:]...)
	p.command.Env = slices.Concat(
		os.Environ(),
		[]string{
			"POSTERN_DATABASE_URL=" + databaseURL,
			"POSTERN_DRAIN=0s",
			"POSTERN_CONTROL_ADDR=127.0.0.1:0",
			"POSTERN_GATEWAY_ADDR=127.0.0.1:0",
		},
		environment,
	)
	p.command.Stderr = p.errors
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := announcement.FindStringSubmatch(lines.Text()); m != nil {
				p.found <- m[2]
			}
		}
		_ = p.command.Wait() // how it ended is in command.ProcessState
		close(p.gone)
	}()
	t.Cleanup(func() { p.end(t, syscall.SIGKILL) })
	return p
}

// announced returns when the process says that it is ready.
func (p *process) announced(t *testing.T) {
	t.Helper()
	for _, address := range []*string{&p.URL, &p.Gateway} { // in the order that they are announced
		select {
		case *address = <-p.found:
		case <-p.gone:
			t.Fatalf("postern serve ended:\n%s", p.errors)
		case <-time.After(startWithin):
			t.Fatalf("postern serve is not ready after %s:\n%s", startWithin, p.errors)
		}
	}
}

// end sends a signal and returns when the process is no more.
func (p *process) end(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal postern serve: %v", err)
	}
	<-p.gone
}
