package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// heapGrowth is how much the live heap of a replica may grow in the second half of a run, in bytes: caches
// that fill, such as those of statements on connections that are opened later, take up to 3 MB.
const heapGrowth = 4e6

// heapLooks are the collections, a second apart, of which the one that leaves least counts: requests, exports and
// jobs that are under way hold half as much again for a moment.
const heapLooks = 8

// heapWithin is how long a replica may take to collect garbage under load.
const heapWithin = 30 * time.Second

// liveHeap is what is in use of a replica's heap after a collection, in bytes, and of which process.
type liveHeap struct {
	pid   int
	bytes float64
}

// liveHeaps asks each replica, by name.
func (r *run) liveHeaps(ctx context.Context) (map[string]liveHeap, error) {
	out := map[string]liveHeap{}
	for range heapLooks {
		for _, replica := range r.in.replicas() {
			pid, _ := replica.pid()
			bytes, err := heapInUse(ctx, replica.admin)
			if err != nil {
				return nil, fmt.Errorf("the heap of replica %s: %w", replica.name, err)
			}
			if least, ok := out[replica.name]; !ok || bytes < least.bytes {
				out[replica.name] = liveHeap{pid, bytes}
			}
		}
		if err := sleep(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// heapInUse has the process behind an admin address collect garbage, and returns what is left. The end of the text form
// of the profile contains it (runtime.MemStats).
func heapInUse(ctx context.Context, admin string) (float64, error) {
	ctx, stop := context.WithTimeout(ctx, heapWithin)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/debug/pprof/heap?gc=1&debug=1", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		var bytes float64
		if n, _ := fmt.Sscanf(lines.Text(), "# HeapAlloc = %g", &bytes); n == 1 {
			return bytes, nil
		}
	}
	return 0, fmt.Errorf("%s: no line HeapAlloc (%w)", response.Status, lines.Err())
}

// heapFaults are the replicas whose live heap grew between two times in one process.
func heapFaults(before, after map[string]liveHeap) (out []error) {
	for name, then := range before {
		now := after[name]
		if now.pid == then.pid && now.bytes > then.bytes+heapGrowth {
			out = append(out, fmt.Errorf("the live heap of replica %s grew from %.1f to %.1f MB", name,
				then.bytes/1e6, now.bytes/1e6))
		}
	}
	return out
}

// heapText describes the live heap of a replica in the middle and at the end.
func (r *run) heapText(name string) string {
	var text []string
	for _, at := range []map[string]liveHeap{r.heapAtHalf, r.heapAtEnd} {
		text = append(text, fmt.Sprintf("%.1f", at[name].bytes/1e6))
	}
	return strings.Join(text, " to ")
}
