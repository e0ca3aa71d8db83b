package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// earlierSuffix marks the rows of the earlier build.
const earlierSuffix = ", before"

// startEarlier copies the data directory and starts the binary that -before names
// on the copy, so that both builds serve the same state. It returns nil without
// -before. The current build is stopped while its database is copied, and p is
// replaced by the new process.
func startEarlier(ctx context.Context, s settings, binary, dir string, p **postern) (*postern, error) {
	if s.before == "" {
		return nil, nil
	}
	data, twin := (*p).data, filepath.Join(dir, "data-before")
	(*p).stop()
	if err := os.CopyFS(twin, os.DirFS(data)); err != nil {
		return nil, fmt.Errorf("copy the data directory for %s: %w", s.before, err)
	}
	again, err := startPostern(ctx, binary, data)
	if err != nil {
		return nil, err
	}
	*p = again
	earlier, err := startPostern(ctx, s.before, twin)
	if err != nil {
		return nil, fmt.Errorf("-before: %w", err)
	}
	return earlier, nil
}

// withEarlier gives every peer that current serves a twin served by earlier. The
// twins precede the last peer, which stays what the others are compared with.
func withEarlier(all []scenario, current, earlier *postern) []scenario {
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
			twin.earlierOf, twin.name = p.name, p.name+earlierSuffix
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
		fmt.Printf("%s, of before: requests/s %.2f, p50 %.2f, p99 %.2f, CPU %.2f\n",
			p.earlierOf, r.rate/before.rate, r.p50/before.p50, r.p99/before.p99, r.cpu/before.cpu)
	}
}
