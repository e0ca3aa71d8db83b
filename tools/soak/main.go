// Command soak runs Postern as docs/replicas.md sets it up, under load and under faults,
// and checks every answer. Run it from the repository, for ten minutes unless you set
// -duration:
//
//	go run ./tools/soak
//
// Two replicas serve calls and two accept changes, behind HAProxy, with a durable
// PostgreSQL server and a Redis. Keys are created, rotated, frozen, unfrozen and
// revoked, and exports run, while replicas are replaced, killed and stopped, the database
// and Redis restart, and a clock is wrong. Calls start at fixed times, at 70% of the rate
// that the machine can handle. Each response of the gateway is checked against a model of
// the acknowledged changes. The command prints a table. It fails if a decision was wrong,
// an acknowledged write was lost, a call failed that wasn't cut off by a kill, or memory
// grew.
//
// It owns the load, the faults and the model. It leaves speed to tools/bench, and the
// effect of attacks to tools/load. docs/faults.md says what holds in each fault.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func main() {
	s := settings{ending: ending, enduring: enduring, heldUp: heldUpFor}
	flag.DurationVar(&s.duration, "duration", 10*time.Minute, "length of the run; each fault happens at least once")
	flag.Float64Var(&s.share, "share", 0.7, "fraction of the rate of calls that the machine can handle")
	flag.Float64Var(&s.rate, "rate", 0, "highest number of calls a second; 0 means that -share decides")
	flag.Float64Var(&s.changes, "changes", 50, "key changes a second")
	flag.IntVar(&s.keys, "keys", 1000, "approximate number of keys that exist at a time")
	flag.DurationVar(&s.drain, "drain", 5*time.Second, "POSTERN_DRAIN of the replicas")
	flag.DurationVar(&s.check, "check", time.Second, "interval of HAProxy's health checks")
	flag.DurationVar(&s.probe, "probe", 10*time.Second, "how long to measure the rate that the machine can handle")
	flag.DurationVar(&s.rest, "rest", 10*time.Second, "time between faults")
	// Longer than HAProxy takes to notice, and than PostgreSQL keeps an idle transaction open.
	flag.DurationVar(&s.outage, "outage", 5*time.Second, "how long replicas stay frozen or dead, and the database down")
	flag.DurationVar(&s.clock, "clock", 2*time.Minute, "how far a gateway's clock is off; 0 leaves out this fault")
	flag.StringVar(&s.logs, "logs", "", "directory to keep the logs in, even if the run passes")
	flag.Parse()
	if s.clock == 0 {
		s.ending = slices.DeleteFunc(slices.Clone(s.ending), func(f fault) bool { return f.name == clockOffName })
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	r, err := soak(ctx, ".", s)
	stop()
	if r != nil {
		fmt.Println()
		r.report(os.Stdout)
		err = errors.Join(err, r.failures())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// soak installs Postern, runs the soak against it and removes everything. The run is nil
// if it did not begin.
func soak(ctx context.Context, root string, s settings) (r *run, err error) {
	dir, err := os.MkdirTemp("", "postern-soak-")
	if err != nil {
		return nil, fmt.Errorf("make a working directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	progress("building and starting")
	in, err := install(ctx, root, dir, s)
	defer func() {
		err = errors.Join(err, in.stop())
		if s.logs != "" || err != nil || r.failures() != nil {
			err = errors.Join(err, keepLogs(dir, s.logs))
		}
	}()
	if err != nil {
		return nil, err
	}
	r = newRun(s, in)
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	progress("%.0f calls and %.0f changes a second for %s", r.rate, s.changes, s.duration)
	return r, r.soak(ctx)
}

// keepLogs copies the logs out of the working directory, to one that it creates and names if none is given.
func keepLogs(dir, to string) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err == nil && to == "" {
		to, err = os.MkdirTemp("", "postern-soak-logs-")
	}
	if err != nil {
		return fmt.Errorf("keep the logs: %w", err)
	}
	progress("the logs are in %s", to)
	failed := os.MkdirAll(to, 0o755)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.Base(log)), text, 0o600)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "soak: %s "+format+"\n", append([]any{clock(time.Now())}, args...)...)
}
