package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
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
	file := fmt.Sprintf("/proc/%d/task/%[1]d/children", out[0])
	children, err := os.ReadFile(file)
	if err != nil {
		return out
	}
	for field := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(field); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// clockTicks is USER_HZ, in which /proc counts; it is 100 on every Linux that
// Go runs on.
const clockTicks = 100

// cpuSeconds is what the processes have used so far, user and system
// (proc(5), /proc/pid/stat, fields 14 and 15).
func cpuSeconds(pids []int) (float64, error) {
	var ticks int64
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
		}
		// The name in parentheses may hold spaces: count from behind it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 13 {
			return 0, fmt.Errorf("read the CPU time of process %d: %d fields", pid, len(fields))
		}
		user, errUser := strconv.ParseInt(fields[11], 10, 64)
		system, errSystem := strconv.ParseInt(fields[12], 10, 64)
		if err := errors.Join(errUser, errSystem); err != nil {
			return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
		}
		ticks += user + system
	}
	return float64(ticks) / clockTicks, nil
}
