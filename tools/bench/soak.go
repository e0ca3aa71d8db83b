package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// soakIn calls with all keys in turn, with limits and usage on, and prints what
// memory the process takes after each stretch.
func (l load) soakIn(ctx context.Context, m market, p *postern) error {
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
		resident, err := residentMB(p.pids()[0])
		if err != nil {
			return err
		}
		fmt.Printf("%10s %12.0f %14.1f\n", time.Since(began).Round(time.Second), r.rate, resident)
	}
	return nil
}

// residentMB is VmRSS (proc(5), /proc/pid/status), in megabytes.
func residentMB(pid int) (float64, error) { return memoryMB(pid, "VmRSS:") }

// peakMB is the most that was resident since the last resetPeak: VmHWM, in megabytes.
func peakMB(pid int) (float64, error) { return memoryMB(pid, "VmHWM:") }

// resetPeak sets VmHWM to VmRSS (proc(5), /proc/pid/clear_refs).
func resetPeak(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("reset the peak memory of process %d: %w", pid, err)
	}
	return nil
}

func memoryMB(pid int, field string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	_, rest, _ := strings.Cut(string(status), field)
	kilobytes, err := strconv.ParseFloat(strings.Fields(rest + " ?")[0], 64)
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	return kilobytes * 1024 / 1e6, nil
}
