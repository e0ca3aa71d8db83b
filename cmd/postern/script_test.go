package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"

	"postern/app"
	"postern/models"
	"postern/platform/config"
	"postern/testkit/servers"
	"postern/testkit/state"
)

// TestMain builds the program that the scripts start, and puts it first in PATH. The scripts start
// it about 700 times, so it is built without the race detector: this test binary, which has it,
// would take four times as long to start. The servers that it talks to run in this binary.
func TestMain(m *testing.M) {
	code, err := runWithProgram(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithProgram(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "postern-scripts-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	build := exec.Command("go", "build", "-trimpath", "-o", dir, "postern/cmd/postern")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the program for the scripts: %w\n%s", err, out)
	}
	if err := os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// TestScripts runs testdata/script. Each script has its own server, upstream and credentials.
func TestScripts(t *testing.T) {
	runScripts(t, "testdata/script", func(dataDir string) error {
		_, err := state.SQLiteIn(dataDir)
		return err
	})
}

// TestStartScripts runs testdata/start: programs that bring a database of their
// own, or must not start next to the SQLite file of the server that runs.
func TestStartScripts(t *testing.T) {
	runScripts(t, "testdata/start", func(string) error { return nil })
}

// runScripts gives each script's server a data directory, which prepare may fill.
func runScripts(t *testing.T, dir string, prepare func(dataDir string) error) {
	names := servers.StartNameServer(t)
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Setup:               func(env *testscript.Env) error { return setUp(env, prepare, names.Addr) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"lines":    lines,
			"capture":  capture,
			"calls":    calls,
			"tamper":   tamper,
			"notempty": notEmpty,
			"follows":  follows,
			"decides":  decides,
			"sql":      runSQL,
			"record": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 1 {
					ts.Fatalf("usage: record NAME [VALUE...]")
				}
				names.Set(args[0], args[1:]...)
			},
		},
	})
}

func setUp(env *testscript.Env, prepare func(dataDir string) error, nameServer string) error {
	dataDir := filepath.Join(env.WorkDir, "server-data")
	if err := prepare(dataDir); err != nil {
		return err
	}
	upstream := httptest.NewServer(http.HandlerFunc(echo))
	env.Defer(upstream.Close)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = taken.Close() })
	server, firstLink, err := startServer(env, dataDir, nameServer)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"POSTERN_SERVER":     server,
		"FIRST_LINK":         firstLink,
		"POSTERN_CONFIG_DIR": filepath.Join(env.WorkDir, "config"),
		"UPSTREAM":           upstream.URL,
		"TAKEN":              taken.Addr().String(),
		"DATA":               dataDir,
	} {
		env.Setenv(name, value)
	}
	return nil
}

func startServer(env *testscript.Env, dataDir, nameServer string) (address, firstLink string, err error) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	err = flags.Parse([]string{
		"--data-dir", dataDir,
		"--control-addr", "127.0.0.1:0",
		"--gateway-addr", "127.0.0.1:0",
		"--drain", "0s",
		"--dns-server", nameServer,
	})
	if err != nil {
		return "", "", err
	}
	settings, err := config.Load(flags, nil)
	if err != nil {
		return "", "", err
	}
	ctx, stop := context.WithCancel(context.Background())
	server, err := app.New(ctx, settings, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		stop()
		return "", "", err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	env.Defer(func() {
		stop()
		if err := <-stopped; err != nil {
			env.T().Log("the server stopped with: ", err)
			env.T().FailNow()
		}
	})
	return server.Config.PublicURL, server.FirstLink, nil
}

// exits CODE COMMAND...: the command ends with exactly this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// lines FILE N: the file, or stdout or stderr, has exactly so many lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	text := ts.ReadFile(args[0])
	if got := strings.Count(text, "\n"); strconv.Itoa(got) != args[1] {
		ts.Fatalf("%s has %d lines, want %s:\n%s", args[0], got, args[1], text)
	}
}

// capture NAME PATTERN: sets a variable to what the pattern's group matches in
// stdout.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("nothing in stdout matches %s with one group", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// calls STATUS URL [KEY]: what the gateway answers.
func calls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: calls STATUS URL [KEY]")
	}
	request, err := http.NewRequest(http.MethodGet, args[1], nil)
	ts.Check(err)
	if len(args) == 3 {
		request.Header.Set("X-API-Key", args[2])
	}
	answer, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer answer.Body.Close()
	if strconv.Itoa(answer.StatusCode) != args[0] {
		ts.Fatalf("%s answered %s, want %s", args[1], answer.Status, args[0])
	}
}

// tamper FROM TO ENTRY: copies a zip with a byte more in the entry.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: tamper FROM TO ENTRY")
	}
	from, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	defer from.Close()
	file, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	to := zip.NewWriter(file)
	touched := false
	for _, entry := range from.File {
		in, err := entry.Open()
		ts.Check(err)
		out, err := to.Create(entry.Name)
		ts.Check(err)
		_, err = io.Copy(out, in)
		ts.Check(err)
		if entry.Name == args[2] {
			_, err = io.WriteString(out, "\n")
			ts.Check(err)
			touched = true
		}
	}
	ts.Check(errors.Join(to.Close(), file.Close()))
	if !touched {
		ts.Fatalf("%s has no entry %s", args[0], args[2])
	}
}

// sql DIRECTORY STATEMENT: changes something in the SQLite database there.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql DIRECTORY STATEMENT")
	}
	db, err := models.Open(context.Background(), "", filepath.Join(ts.MkAbs(args[0]), "postern.db"))
	ts.Check(err)
	result, err := db.SQL().Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		ts.Fatalf("changed %d rows, error %v", n, err)
	}
}

// notempty DIRECTORY: it has entries; with !, it is empty or does not exist.
func notEmpty(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] notempty DIRECTORY")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		ts.Check(err)
	}
	if (len(entries) > 0) == neg {
		ts.Fatalf("%s has %d entries", args[0], len(entries))
	}
}
