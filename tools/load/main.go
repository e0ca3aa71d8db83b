// Command load measures how much attacks on one project slow down the calls of
// another. Run it from the repository:
//
//	go run ./tools/load
//
// It owns the comparison: it runs `postern serve` on a temporary directory with a
// healthy project and two that are attacked, calls the healthy one at a steady rate,
// and compares the 99th percentile of its latencies with and without an attack, in
// turns within one run. It prints the ratios, and fails if one is higher than -most.
// It doesn't own speed: that is tools/bench.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	idle    int
	rounds  int
	seconds float64
	most    float64
	servers string
	only    string
}

func main() {
	var s settings
	flag.IntVar(&s.idle, "idle", 10_000, "idle connections")
	flag.IntVar(&s.rounds, "rounds", 7, "rounds with and without each attack; figures are their medians")
	flag.Float64Var(&s.seconds, "seconds", 1.5, "length of one measurement, in seconds")
	flag.Float64Var(&s.most, "most", 2, "highest factor by which an attack may increase the 99th percentile")
	flag.StringVar(&s.only, "only", "", "run only the attacks whose name contains this")
	flag.StringVar(&s.servers, "servers", "",
		"only call servers with this in their name, without attacks; empty means all, after the attacks")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(s settings) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "postern-load-")
	if err != nil {
		return fmt.Errorf("make a working directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	fmt.Fprintln(os.Stderr, "load: building ./cmd/postern")
	server, err := startServer(ctx, dir)
	if err != nil {
		return err
	}
	defer server.stop()
	if s.servers == "" {
		err = attackAll(ctx, s, server)
	}
	if s.only != "" {
		return err
	}
	return errors.Join(err, compareReuse(ctx, dir, server, s.servers))
}

func attackAll(ctx context.Context, s settings, server *server) error {
	testbed, err := newTestbed(ctx, server)
	if err != nil {
		return err
	}
	defer testbed.close()
	token, err := server.signIn(ctx)
	if err != nil {
		return err
	}

	// Idle memory is measured first: the runtime does not return used memory at once.
	if err := measureIdle(ctx, s, testbed, server); err != nil {
		return err
	}
	fmt.Printf("\n%-44s %12s %12s %7s\n", "", "p99 without", "p99 with", "ratio")
	var beyond []error
	for _, a := range attacks(s, testbed, testbed.importKeys(server, token)) {
		if !strings.Contains(a.name, s.only) {
			continue
		}
		quiet, loud, err := compare(ctx, s, testbed, a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		ratio := loud.Seconds() / quiet.Seconds()
		fmt.Printf("%-44s %9.2f ms %9.2f ms %7.2f\n", a.name, ms(quiet), ms(loud), ratio)
		if most := cmp.Or(a.most, s.most); ratio > most && !a.without {
			beyond = append(beyond, fmt.Errorf("%s: %.2f times, at most %.1f are allowed", a.name, ratio, most))
		}
	}
	return errors.Join(beyond...)
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// compare lets quiet and attacked measurements take turns, so that whatever else
// the machine does hits both, and returns the median of each.
func compare(ctx context.Context, s settings, t *testbed, a attack) (quiet, loud time.Duration, err error) {
	length := time.Duration(s.seconds * float64(time.Second))
	if _, err := t.callHealthy(ctx, length); err != nil { // warms up
		return 0, 0, err
	}
	var without, with []time.Duration
	for range s.rounds {
		p99, err := t.callHealthy(ctx, length)
		if err != nil {
			return 0, 0, err
		}
		without = append(without, p99)
		end, err := a.begin(ctx)
		if err != nil {
			return 0, 0, err
		}
		p99, err = t.callHealthy(ctx, length)
		end()
		if err != nil {
			return 0, 0, fmt.Errorf("the healthy project was hit: %w", err)
		}
		if err := t.wasSpoiled(); err != nil {
			return 0, 0, fmt.Errorf("the attack failed: %w", err)
		}
		with = append(with, p99)
	}
	return median(without), median(with), nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
