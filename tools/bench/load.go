package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// peer is a proxy under load.
type peer struct {
	name  string
	url   string // of the environment, without a trailing slash
	key   string
	token string    // instead of key, where there is one
	keys  []calling // where calls go in turn instead, with which key
	pids  func() []int

	origin string // of the page that calls; "": none
	host   string // that calls name, of gRPC; "": the address

	earlierOf string // the peer that this one is the earlier build of
}

// credential is the line that lets calls through. A peer without one gets a header anyway.
func (p peer) credential() string {
	switch {
	case p.token != "":
		return "Authorization: Bearer " + p.token
	case p.key == "":
		return "X-No-Key: -"
	}
	return "X-API-Key: " + p.key
}

// calling is one of many addresses, with a key that opens it.
type calling struct{ path, key string }

// scenario is one kind of call, made to each of its peers.
type scenario struct {
	name        string
	connections int
	path        string // below the environment
	refused     bool   // every answer must be an error; else none may be
	peers       []peer // the last is what the others are compared with
	streams     int    // calls at once on each connection, with h2load; 0: one at a time, with wrk
	http2       bool   // with h2load
	grpc        bool   // over HTTP/2 without TLS
	done        func() // stops the servers that only this scenario uses; nil for none
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
	tools
	dir string
}

// script makes wrk call a peer's addresses in turn, where it has several, and
// print one line that can be read back: requests, length in µs, p50 and p99 in
// µs, answers with an error status, failed connections.
func (l load) script(sc scenario, p peer) (string, error) {
	text := turns(sc, p) + `function done(summary, latency)
  io.write(string.format("RESULT %d %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
`
	file := filepath.Join(l.dir, "wrk.lua")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write wrk's script: %w", err)
	}
	return file, nil
}

func turns(sc scenario, p peer) string {
	if len(p.keys) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("local calls, turn = {}, 0\nfunction init()\n")
	for _, one := range p.keys {
		fmt.Fprintf(&text, "  calls[#calls + 1] = wrk.format('GET', '%s', {['X-API-Key'] = '%s', Host = "+
			"wrk.headers['Host']})\n", one.path+sc.path, one.key)
	}
	text.WriteString("end\nfunction request()\n  turn = turn % #calls + 1\n  return calls[turn]\nend\n")
	return text.String()
}

// compareAll compares the peers of each scenario that -only leaves, and prints the tables.
func (l load) compareAll(ctx context.Context, all []scenario) error {
	for _, sc := range all {
		if !strings.Contains(sc.name, l.only) {
			continue
		}
		progress("%s: %d rounds of %d s for each peer", sc.name, l.rounds, l.seconds)
		results, err := l.compare(ctx, sc)
		if err != nil {
			return err
		}
		printTable(sc, results)
		printEarlier(sc, results)
	}
	return nil
}

// compare lets the peers take turns and returns the median of each.
func (l load) compare(ctx context.Context, sc scenario) ([]result, error) {
	all := make([][]result, len(sc.peers))
	for round := range l.rounds + 1 {
		for i, p := range sc.peers {
			r, err := l.measure(ctx, sc, p)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", sc.name, p.name, err)
			}
			if round > 0 { // the first one warms up
				all[i] = append(all[i], r)
			}
		}
	}
	out := make([]result, len(sc.peers))
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
	by := l.measurePlain
	if sc.streams > 0 {
		by = l.measureStreams
	}
	r, err := by(ctx, sc, p)
	if err != nil {
		return result{}, err
	}
	after, err := cpuSeconds(pids)
	if err != nil {
		return result{}, err
	}
	return result{rate: r.requests / r.seconds, p50: r.p50, p99: r.p99, cpu: (after - before) / r.requests * 1e4}, nil
}

// observed is what a load generator reports.
type observed struct{ requests, seconds, p50, p99 float64 } // p50 and p99 in µs

// measurePlain sends the calls of a scenario without TLS, with wrk.
func (l load) measurePlain(ctx context.Context, sc scenario, p peer) (observed, error) {
	script, err := l.script(sc, p)
	if err != nil {
		return observed{}, err
	}
	cmd := exec.CommandContext(
		ctx, l.wrk, "-t", "1", "-c", fmt.Sprint(sc.connections), "-d", fmt.Sprintf("%ds", l.seconds), "-H",
		p.credential(), "-s", script, p.url+sc.path,
	)
	if p.origin != "" {
		cmd.Args = append(cmd.Args, "-H", "Origin: "+p.origin)
	}
	out, err := cmd.Output()
	if err != nil {
		return observed{}, fmt.Errorf("wrk: %w", err)
	}
	var r observed
	var length, refused, failed float64
	_, line, _ := strings.Cut(string(out), "RESULT ")
	_, err = fmt.Sscan(line, &r.requests, &length, &r.p50, &r.p99, &refused, &failed)
	if err != nil || r.requests == 0 {
		return observed{}, fmt.Errorf("read wrk's result: %w in:\n%s", err, out)
	}
	want := 0.0
	if sc.refused {
		want = r.requests
	}
	if refused != want || failed != 0 {
		return observed{}, fmt.Errorf(
			"%v of %v answers were refusals, and %v connections failed", refused, r.requests, failed,
		)
	}
	r.seconds = length / 1e6
	return r, nil
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

// printTable compares every peer with the last.
func printTable(sc scenario, results []result) {
	base := results[len(results)-1]
	of := "of " + sc.peers[len(sc.peers)-1].name
	fmt.Printf(
		"\n%s\n%-24s %12s %12s %9s %9s %9s %14s %12s\n", sc.name, "", "requests/s", of, "p50 µs", "p99 µs",
		"ratio", "CPU s/10,000", of,
	)
	for i, r := range results {
		fmt.Printf(
			"%-24s %12.0f %12.2f %9.0f %9.0f %9.2f %14.3f %12.2f\n", sc.peers[i].name, r.rate,
			r.rate/base.rate, r.p50, r.p99, r.p99/base.p99, r.cpu, r.cpu/base.cpu,
		)
	}
}
