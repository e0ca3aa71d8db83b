package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// follows N URL KEY FILE COMMAND...: the command prints N lines, one more when
// the URL is then called, and ends well when it is interrupted. What it printed
// is in the file.
func follows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: follows N URL KEY FILE COMMAND...")
	}
	lines, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[4])
	ts.Check(err)
	command := exec.Command(path, args[5:]...)
	command.Env = []string{
		"POSTERN_SERVER=" + ts.Getenv("POSTERN_SERVER"),
		"POSTERN_CONFIG_DIR=" + ts.Getenv("POSTERN_CONFIG_DIR"),
	}
	out, err := command.StdoutPipe()
	ts.Check(err)
	ts.Check(command.Start())
	overdue := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() })
	defer overdue.Stop()
	from, printed := bufio.NewScanner(out), strings.Builder{}
	for n := 0; n <= lines; n++ {
		if n == lines {
			request, err := http.NewRequest(http.MethodGet, args[1], nil)
			ts.Check(err)
			request.Header.Set("X-API-Key", args[2])
			answer, err := http.DefaultClient.Do(request)
			ts.Check(err)
			ts.Check(answer.Body.Close())
		}
		if !from.Scan() {
			ts.Fatalf("it ended after %d lines: %v\n%s", n, command.Wait(), printed.String())
		}
		printed.WriteString(from.Text() + "\n")
	}
	ts.Check(command.Process.Signal(os.Interrupt))
	ts.Check(command.Wait())
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(printed.String()), 0o600))
}
