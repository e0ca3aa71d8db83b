package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// shown are as many of each kind of failure.
const shown = 5

// slow is from which duration on the report has the request of the control plane that took longest in a phase.
const slow = 5 * time.Second

// failures returns why the run has failed: each of the zeros that is not zero.
func (r *run) failures() error {
	out := append([]error{r.decisionsAndWrites()}, r.phases.faults()...)
	out = append(out, r.memory.faults(r.held(), r.settings.duration/2)...)
	if r.settings.duration/2 >= judgedAfter {
		out = append(out, heapFaults(r.heapAtHalf, r.heapAtEnd)...)
	}
	return errors.Join(out...)
}

// decisionsAndWrites returns the wrong decisions, the lost writes, and the operations that
// failed.
func (r *run) decisionsAndWrites() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []error
	if n := len(r.wrong); n > 0 {
		out = append(out, fmt.Errorf("%d wrong decisions: %w", n, errors.Join(r.wrong[:min(n, shown)]...)))
	}
	if n := len(r.missing); n > 0 {
		out = append(out, fmt.Errorf("%d lost writes:\n%s", n, strings.Join(r.missing[:min(n, shown)], "\n")))
	}
	if n := len(r.other); n > shown {
		out = append(out, fmt.Errorf("%d more errors like these", n-shown))
	}
	return errors.Join(append(out, r.other[:min(len(r.other), shown)]...)...)
}

func (r *run) held() (all []held) {
	for _, replica := range r.in.replicas() {
		all = append(all, r.memory.summary(replica.name, r.half))
	}
	return all
}

func (r *run) report(w io.Writer) {
	r.reportLoad(w)
	fmt.Fprintf(w, "%-24s %5s %7s %8s %7s %8s %8s %8s %9s %9s %10s\n", "phase", "times", "seconds", "calls", "failed",
		"left out", "p50 ms", "p99 ms", "requests", "repeated", "longest s")
	for _, p := range r.phases.order {
		fmt.Fprintf(w, "%-24s %5d %7.0f %8d %7d %8d %8.1f %8.1f %9d %9d %10.1f\n",
			p.fault.name, p.times, p.length.Seconds(), p.calls, p.failed, p.missed, ms(quantile(p.took, 0.5)),
			ms(quantile(p.took, 0.99)), p.changes, p.repeated, p.longest.Seconds())
	}
	for _, p := range r.phases.order {
		if p.longest >= slow {
			fmt.Fprintf(w, "\nthe request that took %.1f s, %s: %s", p.longest.Seconds(), p.fault.name, p.slowest)
		}
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "\nchanges: %s; %d exports\n", r.changer.counts.String(), r.exports)
	least, most := r.usage.bounds()
	fmt.Fprintf(w, "wrong decisions %d; lost writes %d of %d that were read back\n",
		len(r.wrong), len(r.missing), r.compared)
	fmt.Fprintf(w, "calls that were cut off when their key was refused: %d\n", r.cutOff.Load())
	fmt.Fprintf(w, "limits: %d windows, %d of them by one count; %d calls refused; %d wrong\n",
		r.counted.windows, r.counted.exact, r.counted.refused, len(r.counted.wrong))
	fmt.Fprintf(w, "usage %d calls, of %d that were answered and %d that were sent; kills may lose %d\n",
		r.inUsage, least+r.usage.uncounted, most, r.usage.uncounted)
	fmt.Fprintf(w, "\n%-10s %9s %9s %9s %22s %16s\n", "replica", "first MB", "last MB", "peak MB",
		"growth at the end MB", "live heap MB")
	for _, m := range r.held() {
		note := ""
		if !m.judged {
			note = ", not judged"
		}
		fmt.Fprintf(w, "%-10s %9.1f %9.1f %9.1f %12.1f in %-6s %16s%s\n", m.replica, m.first/1e6, m.last/1e6,
			m.peak/1e6, m.grew/1e6, m.since.Round(time.Second), r.heapText(m.replica), note)
	}
}

// reportLoad reports the requested and the reached load. Neither fails a run: other programs may have used the machine.
func (r *run) reportLoad(w io.Writer) {
	var calls, missed int
	for _, p := range r.phases.order {
		if p.fault.name != atEnd.name && p.fault.name != saturated.name {
			calls, missed = calls+p.calls, missed+p.missed
		}
	}
	seconds := r.loaded.Seconds()
	fmt.Fprintf(w, "the machine carries %.0f calls a second before the load and %.0f after it, with %.0f changes\n",
		r.capacity[0], r.capacity[1], r.settings.changes)
	fmt.Fprintf(w, "asked for: %.0f calls a second, %.0f %% of that; reached: %.0f, %.0f %%; %d calls left out\n",
		r.rate, 100*r.rate/r.capacity[0], float64(calls)/seconds, 100*float64(calls)/seconds/r.capacity[0], missed)
	fmt.Fprintf(w, "with the changes %.0f operations a second; other programs used %.0f %% of the CPU\n\n",
		(float64(calls)+float64(r.changed))/seconds, 100*r.others)
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// String lists the counts by name.
func (c *counts) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for name, n := range c.of {
		out = append(out, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
