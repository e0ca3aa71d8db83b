package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// replica is one `postern serve`, which keeps its address over restarts.
type replica struct {
	name         string
	roles        string
	address      string // host:port of the listener for callers and the control plane
	admin        string // host:port of the listener for profiles
	program, dir string
	env          []string
	extra        []string // in addition to env, in a fault

	mu      sync.Mutex // of process, which a restart replaces
	process *process
}

// pid is the process's, if there is one.
func (r *replica) pid() (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil || !r.process.running() {
		return 0, false
	}
	return r.process.cmd.Process.Pid, true
}

// start starts the program and waits until its listener is ready.
func (r *replica) start(ctx context.Context) error {
	env := slices.Concat(r.env, r.extra)
	log := filepath.Join(r.dir, r.name+".log")
	p, err := launch("replica "+r.name, log, env, r.program, "serve", "--roles", r.roles,
		"--data-dir", filepath.Join(r.dir, r.name), "--control-addr", r.address, "--gateway-addr", r.address,
		"--admin-addr", r.admin)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.process = p
	r.mu.Unlock()
	return p.until(func() bool { return isReady(ctx, r.address) })
}

// restart replaces the process as an upgrade does.
func (r *replica) restart(ctx context.Context) error {
	if err := r.process.end(syscall.SIGTERM); err != nil {
		return err
	}
	if code := r.process.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("replica %s was stopped with exit code %d:\n%s", r.name, code, r.process.tail())
	}
	return r.start(ctx)
}

// freeze stops the process for a time in the middle of what it does.
func (r *replica) freeze(length time.Duration) error {
	if err := r.process.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(length)
	return r.process.signal(syscall.SIGCONT)
}

func isReady(ctx context.Context, address string) bool {
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
