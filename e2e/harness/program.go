package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// scratch is the directory of the programs that this test binary has built.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "postern-e2e-") })

// builtProgram names a program that tools/test has built as the tests are, for all packages.
const builtProgram = "TESTKIT_PROGRAM"

var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(builtProgram); path != "" {
		return path, nil
	}
	return Build("program", os.Environ())
})

var plainProgram = sync.OnceValues(func() (string, error) { return Build("plain", os.Environ()) })

// Prompt are the deadlines that programs have by default for the database, for tests of what they do when one passes.
// They may connect for longer than the default, because they have to start first.
var Prompt = []string{
	"POSTERN_DATABASE_CONNECT_TIMEOUT=15s",
	"POSTERN_DATABASE_QUEUE_TIMEOUT=5s",
	"POSTERN_DATABASE_STATEMENT_TIMEOUT=10s",
	"POSTERN_DATABASE_LOCK_TIMEOUT=3s",
	"POSTERN_DATABASE_IDLE_TIMEOUT=2s",
	"POSTERN_DATABASE_FEED_TIMEOUT=2s",
}

// Main runs the tests of a package and removes the programs that were built for them. Other programs than those with
// Prompt wait a minute for the database, and PostgreSQL for them: on a busy machine, either may well pause for seconds.
func Main(m *testing.M) {
	for _, setting := range Prompt {
		name, _, _ := strings.Cut(setting, "=")
		if err := os.Setenv(name, "1m"); err != nil {
			panic(err)
		}
	}
	if err := os.Setenv("POSTERN_DATABASE_LOCK_TIMEOUT", "61s"); err != nil { // it has to be the longer one
		panic(err)
	}
	code := m.Run()
	if dir, err := scratch(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// Program returns the path of postern, which has the race detector in `make test`.
func Program(t testing.TB) string {
	t.Helper()
	return built(t, program)
}

// PlainProgram is Program without the race detector, for tests that it would falsify.
func PlainProgram(t testing.TB) string {
	t.Helper()
	return built(t, plainProgram)
}

func built(t testing.TB, program func() (string, error)) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build builds postern with the flags, and returns its path. The directory of that name has nothing else,
// so that it can be put into PATH, and is removed by Main.
func Build(dir string, environment []string, flags ...string) (string, error) {
	parent, err := scratch()
	if err != nil {
		return "", err
	}
	path := filepath.Join(parent, dir, "postern")
	arguments := slices.Concat([]string{"build", "-trimpath", "-o", path}, flags, []string{"postern/cmd/postern"})
	command := exec.Command("go", arguments...)
	command.Env = environment
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build postern: %w\n%s", err, out)
	}
	return path, nil
}
