package main

import (
	"context"
	"fmt"
	"time"

	"postern/tools/procfs"
)

// soakIn calls with all keys in turn, with limits and usage on, and prints what
// memory the process takes after each stretch.
func (l load) soakIn(ctx context.Context, m testbed, p *postern) error {
	l.seconds = int(min(l.soak, 30*time.Second) / time.Second)
	caller := peer{name: "postern", url: m.bench.url, keys: callings(m.bench, m.keys), pids: p.pids}
	sc := scenario{name: "soak", connections: l.connections, path: "/orders/42", peers: []peer{caller}}
	fmt.Printf("%10s %12s %14s\n", "after", "requests/s", "resident MB")
	began := time.Now()
	for time.Since(began) < l.soak {
		r, err := l.measure(ctx, sc, caller)
		if err != nil {
			return err
		}
		resident, err := procfs.Resident(p.pids()[0])
		if err != nil {
			return err
		}
		fmt.Printf("%10s %12.0f %14.1f\n", time.Since(began).Round(time.Second), r.rate, resident/1e6)
	}
	return nil
}
