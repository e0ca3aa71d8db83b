//go:build unix

// Command withpostgres runs a command with its own PostgreSQL server:
//
//	go run ./tools/withpostgres go test ./...
//
// TESTKIT_POSTGRES_URL is the server's address, and TESTKIT_TEMPLATES a directory for
// databases that the command's tests migrate once. The exit code is the command's. The
// server is created for the run, listens only on loopback, requires a password created
// for the run, and is removed with its data afterward, even if the run is interrupted.
//
// It owns the lifetime of the command. testkit/pgserver owns the server, and package
// testkit creates a database for each test.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"postern/testkit/pgserver"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return 2, errors.New("no command is given; for example: withpostgres go test ./service/keys")
	}
	// The kernel ends server and command when the thread that started them ends,
	// so that thread has to live as long as this process.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)

	server, err := pgserver.Start(false)
	if err != nil {
		return 1, err
	}
	code, err = runBeside(server, args, signals)
	if stopErr := server.Stop(); stopErr != nil {
		return 1, errors.Join(err, stopErr)
	}
	return code, err
}

// runBeside runs the command with a directory for the migrated databases that its test binaries
// share; see testkit/state.
func runBeside(server *pgserver.Server, args []string, signals <-chan os.Signal) (int, error) {
	templates, err := os.MkdirTemp("", "postern-templates-")
	if err != nil {
		return 1, fmt.Errorf("make a directory for migrated databases: %w", err)
	}
	code, err := runCommand(server, templates, args, signals)
	if removeErr := os.RemoveAll(templates); removeErr != nil {
		return 1, errors.Join(err, removeErr)
	}
	return code, err
}

// runCommand runs the command in its own process group, hands signals on to the whole group, and leaves nothing of the
// group behind.
func runCommand(
	server *pgserver.Server, templates string, args []string, signals <-chan os.Signal,
) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "TESTKIT_POSTGRES_URL="+server.URL(), "TESTKIT_TEMPLATES="+templates)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pgserver.EndWithParent(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start %s: %w", args[0], err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()

	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = syscall.Kill(-cmd.Process.Pid, s.(syscall.Signal))
		case <-server.Died():
			return 1, fmt.Errorf("the server ended while %s was running: %w", args[0], server.Err())
		case err := <-done:
			return exitCode(err)
		}
	}
}

// exitCode is the command's own, or 128 plus the signal that ended it, as a
// shell has it.
func exitCode(err error) (int, error) {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return 0, err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
