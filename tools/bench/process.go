package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"postern/tools/procfs"
)

// process is a program under measurement, with all that it forks.
type process struct {
	cmd    *exec.Cmd
	output bytes.Buffer // both streams; read once the process is gone
	gone   chan struct{}
}

func start(name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(name), err)
	}
	go func() { defer close(p.gone); _ = p.cmd.Wait() }()
	return p, nil
}

// waitFor asks until ready says yes, and fails when the process ends instead or
// a minute has passed.
func (p *process) waitFor(ready func() bool) error {
	name := filepath.Base(p.cmd.Path)
	late := time.After(time.Minute)
	for !ready() {
		select {
		case <-p.gone:
			return fmt.Errorf("%s ended before it was ready:\n%s", name, p.output.String())
		case <-late:
			p.stop()
			return fmt.Errorf("%s was not ready after a minute:\n%s", name, p.output.String())
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// stop ends the process in peace, and after five seconds without. At SIGTERM Postern
// would go on taking calls for a while.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.gone:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

// pids is the process and its children, such as nginx's workers.
func (p *process) pids() []int {
	out := []int{p.cmd.Process.Pid}
	children, err := procfs.Children(out[0])
	if err != nil {
		return out
	}
	return append(out, children...)
}

// cpuSeconds is what the processes have used so far, user and system.
func cpuSeconds(pids []int) (float64, error) {
	var all time.Duration
	for _, pid := range pids {
		used, err := procfs.CPU(pid)
		if err != nil {
			return 0, err
		}
		all += used
	}
	return all.Seconds(), nil
}
