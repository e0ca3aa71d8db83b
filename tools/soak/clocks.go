package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"postern/tools/shipped"
)

// clockOff is a time in which the clock of a gateway is off.
type clockOff struct {
	interval

	ahead time.Duration // negative: behind
}

// decides reports whether the clock may decide over a secret: a grace period of it has ended on one of
// two clocks, that of the gateway and the one that set its end.
func (o clockOff) decides(s *secret, sent, answered time.Time) bool {
	for _, c := range s.changes {
		if !c.grace {
			continue
		}
		from, until := c.from, c.until
		if o.ahead > 0 {
			from = from.Add(-o.ahead)
		} else {
			until = until.Add(-o.ahead)
		}
		if c.known.IsZero() || !sent.After(until.Add(window)) && !answered.Before(from) {
			return true
		}
	}
	return false
}

// clockIsOff begins a time in which the clock of a gateway is ahead, and returns what ends it.
func (m *model) clockIsOff(gateway string, ahead time.Duration) (ends func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := len(m.clocks[gateway])
	m.clocks[gateway] = append(m.clocks[gateway], clockOff{interval{from: time.Now()}, ahead})
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.clocks[gateway][i].until = time.Now()
	}
}

// clockVariable is how far the clock of the program that buildOff builds is ahead, in whole seconds.
const clockVariable = "SOAK_CLOCK_AHEAD"

// offSource reads clockVariable. It may not use what needs package time.
const offSource = `package time

import "syscall"

var ahead = func() (seconds int64) {
	text, _ := syscall.Getenv("` + clockVariable + `")
	for i := range len(text) {
		if text[i] != '-' {
			seconds = 10*seconds + int64(text[i]-'0')
		}
	}
	if text != "" && text[0] == '-' {
		return -seconds
	}
	return seconds
}()
`

// nowReads is the line of Go's time.Now that reads both clocks. A program reads them without the C
// library, so that none can be put before it, and Linux has no namespace of the clock on the wall.
const nowReads = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"

// buildOff builds the program with a time.Now that is ahead by clockVariable, from the same source.
func buildOff(ctx context.Context, root, dir, program string) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	source := filepath.Join(string(bytes.TrimSpace(out)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		return fmt.Errorf("read the source of package time: %w", err)
	}
	if bytes.Count(text, []byte(nowReads)) != 1 {
		return errors.New("time.Now of this Go is not as expected; run with -clock 0 to leave the clocks alone")
	}
	text = bytes.Replace(text, []byte(nowReads), []byte(nowReads+"\tsec += ahead\n"), 1)
	files := map[string][]byte{"time.go": text, "ahead.go": []byte(offSource)}
	replace := map[string]string{}
	for name, text := range files {
		replace[filepath.Join(source, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return fmt.Errorf("write an overlay: %w", err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return fmt.Errorf("write an overlay: %w", err)
	}
	if err := shipped.Build(ctx, root, program, "-overlay="+file); err != nil {
		return fmt.Errorf("with another clock: %w", err)
	}
	return nil
}

// gatewayClockOff has a gateway's clock be ahead and then behind.
func gatewayClockOff(ctx context.Context, r *run) error {
	g := r.in.gateways[1]
	right := g.program
	g.program = r.in.programOff
	defer func() { g.program, g.extra = right, nil }()
	ends := func() {}
	for _, ahead := range []time.Duration{r.settings.clock, -r.settings.clock} {
		next := r.model.clockIsOff(g.name, ahead)
		g.extra = []string{fmt.Sprintf("%s=%.0f", clockVariable, ahead.Seconds())}
		if err := r.replace(ctx, g); err != nil {
			return err
		}
		ends() // the process before is gone
		ends = next
		if err := sleep(ctx, r.settings.outage); err != nil {
			return err
		}
	}
	g.program, g.extra = right, nil
	err := r.replace(ctx, g)
	ends()
	return err
}
