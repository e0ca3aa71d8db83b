package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"postern/tools/shipped"
)

// The suffixes mark the rows of the earlier build, or of this one with an access log.
const (
	earlierSuffix = ", before"
	loggedSuffix  = ", access log"
)

func (s settings) twinSuffix() string {
	if s.accessLog {
		return loggedSuffix
	}
	return earlierSuffix
}

// earlierProgram returns the program that -before names. A checkout is built as it ships.
func earlierProgram(ctx context.Context, before, dir string) (string, error) {
	if before == "" {
		return "", nil
	}
	info, err := os.Stat(before)
	if err != nil {
		return "", fmt.Errorf("find the earlier commit: %w", err)
	}
	if !info.IsDir() {
		return before, nil
	}
	progress("building ./cmd/postern of %s", before)
	program := filepath.Join(dir, "postern-before")
	return program, shipped.Build(ctx, before, program)
}

// startEarlier copies the data directory and starts the binary that -before names
// on the copy, so that both builds serve the same state; with -access-log, the current
// binary with an access log. It returns nil without either. The current build is stopped
// while its database is copied, and p is replaced by the new process.
func startEarlier(ctx context.Context, s settings, binary, dir string, p **postern) (*postern, error) {
	if s.before == "" && !s.accessLog {
		return nil, nil
	}
	older, flags := s.before, []string(nil)
	if s.accessLog {
		older = binary
		flags = []string{"--access-log", "full", "--access-log-file", filepath.Join(dir, "access.log")}
	}
	data, twin := (*p).data, filepath.Join(dir, "data-before")
	(*p).stop()
	if err := os.CopyFS(twin, os.DirFS(data)); err != nil {
		return nil, fmt.Errorf("copy the data directory for %s: %w", older, err)
	}
	again, err := startPostern(ctx, binary, data)
	if err != nil {
		return nil, err
	}
	*p = again
	earlier, err := startPostern(ctx, older, twin, flags...)
	if err != nil {
		return nil, fmt.Errorf("start %s on the copy: %w", older, err)
	}
	return earlier, nil
}

// withEarlier gives every peer that current serves a twin served by earlier. The
// twins precede the last peer, which stays what the others are compared with.
func withEarlier(all []scenario, current, earlier *postern, suffix string) []scenario {
	if earlier == nil {
		return all
	}
	for i, sc := range all {
		var twins []peer
		for _, p := range sc.peers {
			rest, ours := strings.CutPrefix(p.url, current.gateway)
			if !ours {
				continue
			}
			twin := p
			twin.earlierOf, twin.name = p.name, p.name+suffix
			twin.url, twin.pids = earlier.gateway+rest, earlier.pids
			twins = append(twins, twin)
		}
		all[i].peers = slices.Insert(sc.peers, len(sc.peers)-1, twins...)
	}
	return all
}

// printEarlier compares each peer with its earlier build.
func printEarlier(sc scenario, results []result) {
	for i, p := range sc.peers {
		if p.earlierOf == "" {
			continue
		}
		now := slices.IndexFunc(sc.peers, func(other peer) bool { return other.name == p.earlierOf })
		r, before := results[now], results[i]
		fmt.Printf("%s, of the one%s: requests/s %.2f, p50 %.2f, p99 %.2f, CPU %.2f\n",
			p.earlierOf, strings.TrimPrefix(p.name, p.earlierOf),
			r.rate/before.rate, r.p50/before.p50, r.p99/before.p99, r.cpu/before.cpu)
	}
}
