// Command bench measures the gateway as it ships, side by side with nginx doing
// the same job, and prints one table. Run it from the repository:
//
//	go run ./tools/bench
//
// It owns the measurement: it builds ./cmd/postern and runs `postern serve` on a
// temporary directory, an nginx with the same keys in a map, one upstream for both
// (another nginx with a fixed body of 1 KiB), and wrk as the load generator. It doesn't
// decide what is good enough: it prints figures, and fails only if something can't be
// measured.
//
// Absolute figures hold for one machine on one day; compare the ratios. The peers take
// turns within each round, so that other load on the machine affects both, and each
// figure is the median of all rounds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"postern/tools/shipped"
)

// settings are the flags.
type settings struct {
	keys        int
	million     int
	projects    int
	rounds      int
	seconds     int
	connections int
	soak        time.Duration
	only        string
	profile     string
	before      string
	accessLog   bool
	export      int
	importKeys  int
	gateways    int
	database    string
	kong        string
}

func main() {
	var s settings
	flag.IntVar(&s.keys, "keys", 10000, "number of keys that both peers know")
	flag.IntVar(&s.million, "many-keys", 1_000_000, "number of keys in the project with very many keys")
	flag.IntVar(&s.projects, "projects", 1000, "number of projects that calls go to in turn")
	flag.IntVar(&s.rounds, "rounds", 5, "number of rounds; figures are their medians")
	flag.IntVar(&s.seconds, "seconds", 2, "length of one measurement, in seconds")
	flag.IntVar(&s.connections, "connections", 64, "number of connections of the load generator")
	flag.DurationVar(&s.soak, "soak", 0, "instead of comparing, keep calling for this long and print the memory used")
	flag.StringVar(&s.only, "only", "", "run only the scenarios whose name contains this")
	flag.StringVar(&s.profile, "profile", "",
		"instead of comparing, write a profile of the first call of the first scenario to this file")
	flag.StringVar(
		&s.before,
		"before",
		"",
		"a checkout of an earlier commit, or its postern binary, to measure in the same rounds",
	)
	flag.BoolVar(&s.accessLog, "access-log", false, "also measure this build with a full access log in the same rounds")
	flag.IntVar(&s.export, "export", 0, "instead of comparing, export this many keys and as many users")
	flag.IntVar(&s.importKeys, "import-keys", 0, "instead of comparing, import this many keys of another form, twice")
	flag.StringVar(&s.database, "database", "",
		"with -export, -import-keys and -gateways: postgres:// URL of an empty database; empty means SQLite")
	flag.IntVar(&s.gateways, "gateways", 0,
		"instead of comparing, revoke keys for -seconds while this many gateways on one PostgreSQL follow")
	flag.StringVar(&s.kong, "kong", "",
		"with -export: a launcher of Kong such as tools/kong-docker, which is started on the zip")
	flag.Parse()
	if s.accessLog && s.before != "" {
		fmt.Fprintln(os.Stderr, "bench: -access-log and -before exclude each other")
		os.Exit(2)
	}

	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(s settings) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 40*time.Minute+s.soak)
	defer cancel()
	tools, err := findTools()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "postern-bench-")
	if err != nil {
		return fmt.Errorf("make a working directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	progress("building ./cmd/postern")
	binary, size, err := build(ctx, s, dir)
	if err != nil {
		return err
	}
	if s.before, err = earlierProgram(ctx, s.before, dir); err != nil {
		return err
	}
	upstream, err := startUpstream(dir, tools.nginx)
	if err != nil {
		return err
	}
	defer upstream.stop()
	if s.export > 0 {
		return load{tools: tools, settings: s, dir: dir}.exportIn(ctx, s, binary, dir, upstream.url)
	}
	if s.importKeys > 0 {
		return load{tools: tools, settings: s, dir: dir}.importKeysIn(ctx, s, binary, dir, upstream.url)
	}
	if s.gateways > 0 {
		return gatewaysIn(ctx, s, binary, dir, upstream.url)
	}
	postern, err := startPostern(ctx, binary, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer func() { postern.stop() }()

	progress("making projects and keys")
	m, err := stockUp(ctx, s, binary, upstream.url, &postern)
	if err != nil {
		return err
	}
	earlier, err := startEarlier(ctx, s, binary, dir, &postern)
	if err != nil {
		return err
	}
	if earlier != nil {
		defer func() { earlier.stop() }()
		m.movedTo(postern)
	}
	reference, err := startReference(dir, tools.nginx, upstream.addr, m.keys, nil)
	if err != nil {
		return err
	}
	defer reference.stop()

	load := load{tools: tools, settings: s, dir: dir}
	if s.soak > 0 {
		return load.soakIn(ctx, m, postern)
	}
	nginx := peer{name: "nginx", url: "http://" + reference.addr + prefix, pids: reference.pids}
	byToken, err := tokenScenario(ctx, s, m, postern, earlier, upstream.url, nginx)
	if err != nil {
		return err
	}
	defer byToken.done()
	if s.profile != "" {
		for _, sc := range append(scenarios(s, m, postern.pids, nginx), byToken) {
			if strings.Contains(sc.name, s.only) {
				return load.profileInto(ctx, s.profile, sc)
			}
		}
		return fmt.Errorf("no scenario has %q in its name", s.only)
	}
	all := withEarlier(scenarios(s, m, postern.pids, nginx), postern, earlier, s.twinSuffix())
	if err := load.compareAll(ctx, append(all, byToken)); err != nil {
		return err
	}
	if err := load.compareSecured(ctx, binary, upstream.addr, m, &postern); err != nil {
		return err
	}
	if err := load.compareGRPC(ctx, binary, m, &postern); err != nil {
		return err
	}
	if err := measureControl(ctx, binary, size, upstream.url, &postern); err != nil {
		return err
	}
	return measureValidation(ctx)
}

// progress goes to stderr, so that stdout is the tables alone.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

type tools struct{ nginx, wrk, h2load string }

func findTools() (tools, error) {
	var t tools
	var missing []string
	for _, need := range []struct {
		path         *string
		name, debian string
		elsewhere    string
	}{
		{&t.nginx, "nginx", "nginx-light", "/usr/sbin/nginx"}, // sbin is not in everyone's PATH
		{&t.wrk, "wrk", "wrk", ""},
		{&t.h2load, "h2load", "nghttp2-client", ""},
	} {
		found, err := exec.LookPath(need.name)
		if err != nil && need.elsewhere != "" {
			found, err = exec.LookPath(need.elsewhere)
		}
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s (Debian package %s)", need.name, need.debian))
		}
		*need.path = found
	}
	if len(missing) > 0 {
		return t, fmt.Errorf("not installed: %s", strings.Join(missing, ", "))
	}
	return t, nil
}

// build builds the binary as it ships, but for profiles where they are wanted, and returns its path and size in bytes.
func build(ctx context.Context, s settings, dir string) (string, int64, error) {
	binary := filepath.Join(dir, "postern")
	var flags []string
	if s.profile != "" {
		overlay, err := withProfiles(dir)
		if err != nil {
			return "", 0, fmt.Errorf("add profiles to ./cmd/postern: %w", err)
		}
		flags = append(flags, "-overlay="+overlay)
	}
	if err := shipped.Build(ctx, ".", binary, flags...); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return "", 0, fmt.Errorf("build ./cmd/postern: %w", err)
	}
	return binary, info.Size(), nil
}
