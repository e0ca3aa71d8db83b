package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"postern/policy"
)

// peer is a proxy under load.
type peer struct {
	name string
	url  string // of the environment, without a trailing slash
	pids func() []int
}

// scenario is one kind of call.
type scenario struct {
	name        string
	connections int
	key         string
	refused     bool // every answer must be an error; else none may be
}

func scenarios(s settings, key string) []scenario {
	wrong, err := policy.NewKey(policy.DefaultKeyPrefix, "prod") // well-formed, so that it is looked up
	if err != nil {
		panic(err)
	}
	return []scenario{
		{fmt.Sprintf("forward 1 KiB, %d connections", s.connections), s.connections, key, false},
		{fmt.Sprintf("wrong key, %d connections", s.connections), s.connections, wrong, true},
		{"forward 1 KiB, 1 connection", 1, key, false},
	}
}

// result is one measurement, or the median of several.
type result struct {
	rate     float64 // requests/s
	p50, p99 float64 // µs
	cpu      float64 // seconds for 10,000 requests
}

// load drives wrk.
type load struct {
	settings
	wrk, script string
}

// writeScript makes wrk print one line that can be read back: requests, length
// in µs, p50 and p99 in µs, answers with an error status, failed connections.
func (l load) writeScript() error {
	const script = `function done(summary, latency)
  io.write(string.format("RESULT %d %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
`
	if err := os.WriteFile(l.script, []byte(script), 0o600); err != nil {
		return fmt.Errorf("write wrk's script: %w", err)
	}
	return nil
}

// compare lets the peers take turns and returns the median of each.
func (l load) compare(ctx context.Context, sc scenario, peers []peer) ([]result, error) {
	all := make([][]result, len(peers))
	for round := range l.rounds + 1 {
		for i, p := range peers {
			r, err := l.measure(ctx, sc, p)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", sc.name, p.name, err)
			}
			if round > 0 { // the first one warms up
				all[i] = append(all[i], r)
			}
		}
	}
	out := make([]result, len(peers))
	for i, results := range all {
		out[i] = result{
			rate: median(results, func(r result) float64 { return r.rate }),
			p50:  median(results, func(r result) float64 { return r.p50 }),
			p99:  median(results, func(r result) float64 { return r.p99 }),
			cpu:  median(results, func(r result) float64 { return r.cpu }),
		}
	}
	return out, nil
}

func (l load) measure(ctx context.Context, sc scenario, p peer) (result, error) {
	pids := p.pids()
	before, err := cpuSeconds(pids)
	if err != nil {
		return result{}, err
	}
	cmd := exec.CommandContext(ctx, l.wrk, "-t", "1", "-c", fmt.Sprint(sc.connections), "-d", fmt.Sprintf("%ds", l.seconds),
		"-H", "X-API-Key: "+sc.key, "-s", l.script, p.url+"/orders/42")
	out, err := cmd.Output()
	if err != nil {
		return result{}, fmt.Errorf("wrk: %w", err)
	}
	after, err := cpuSeconds(pids)
	if err != nil {
		return result{}, err
	}
	var requests, length, p50, p99, refused, failed float64
	_, line, _ := strings.Cut(string(out), "RESULT ")
	if _, err := fmt.Sscan(line, &requests, &length, &p50, &p99, &refused, &failed); err != nil || requests == 0 {
		return result{}, fmt.Errorf("read wrk's result: %w in:\n%s", err, out)
	}
	want := 0.0
	if sc.refused {
		want = requests
	}
	if refused != want || failed != 0 {
		return result{}, fmt.Errorf("%v of %v answers were refusals, and %v connections failed", refused, requests, failed)
	}
	return result{rate: requests / length * 1e6, p50: p50, p99: p99, cpu: (after - before) / requests * 1e4}, nil
}

func median[T any](all []T, of func(T) float64) float64 {
	values := make([]float64, 0, len(all))
	for _, one := range all {
		values = append(values, of(one))
	}
	slices.Sort(values)
	if n := len(values); n%2 == 0 {
		return (values[n/2-1] + values[n/2]) / 2
	}
	return values[len(values)/2]
}

// printTable compares every peer with the last, nginx.
func printTable(sc scenario, peers []peer, results []result) {
	base := results[len(results)-1]
	fmt.Printf("\n%s\n%-10s %12s %9s %9s %9s %14s %9s\n", sc.name, "", "requests/s", "of nginx", "p50 µs", "p99 µs", "CPU s/10,000", "of nginx")
	for i, r := range results {
		fmt.Printf("%-10s %12.0f %9.2f %9.0f %9.0f %14.3f %9.2f\n", peers[i].name, r.rate, r.rate/base.rate, r.p50, r.p99, r.cpu, r.cpu/base.cpu)
	}
}
