package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"postern/testkit/pgserver"
)

// process is a program that the soak has started. Its output goes to a file.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string        // file
	gone chan struct{} // closed when it has ended
}

// launch starts a program that ends with this process at the latest.
func launch(name, log string, env []string, line ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	defer file.Close()
	p := &process{name: name, log: log, cmd: exec.Command(line[0], line[1:]...), gone: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = file, file
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pgserver.EndWithParent(p.cmd.SysProcAttr)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() { defer close(p.gone); _ = p.cmd.Wait() }()
	return p, nil
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// end sends a signal and waits until the process is gone; it is killed if that takes too long.
func (p *process) end(s syscall.Signal) error {
	const within = time.Minute
	if err := p.signal(s); err != nil {
		return err
	}
	select {
	case <-p.gone:
		return nil
	case <-time.After(within):
		_ = p.signal(syscall.SIGKILL)
		<-p.gone
		return fmt.Errorf("%s did not end within %s of %s:\n%s", p.name, within, s, p.tail())
	}
}

// running reports whether the process has not ended.
func (p *process) running() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// until waits until ready says so, the process ends, or a minute has passed.
func (p *process) until(ready func() bool) error {
	late := time.After(time.Minute)
	for !ready() {
		select {
		case <-p.gone:
			return fmt.Errorf("%s ended before it was ready:\n%s", p.name, p.tail())
		case <-late:
			return fmt.Errorf("%s is not ready after a minute:\n%s", p.name, p.tail())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// tail is the end of the log.
func (p *process) tail() string {
	const most = 4096
	text, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Sprintf("(%s: %v)", filepath.Base(p.log), err)
	}
	return string(text[max(0, len(text)-most):])
}
