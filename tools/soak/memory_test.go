package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestMemory_faults(t *testing.T) {
	const half = 5 * time.Minute
	began := time.Unix(0, 0)
	sampled := func(seconds int, bytes func(second int) float64) []sample {
		var out []sample
		for s := range seconds {
			out = append(out, sample{began.Add(time.Duration(s) * time.Second), 1, bytes(s)})
		}
		return out
	}
	level := func(int) float64 { return 1e8 }
	growing := func(second int) float64 { return 1e8 + 1e5*float64(second) }
	for name, tt := range map[string]struct {
		samples []sample
		failed  []error
		half    time.Duration
		want    string
	}{
		"level":                   {sampled(300, level), nil, half, ""},
		"growing":                 {sampled(300, growing), nil, half, "grew by"},
		"without samples":         {nil, nil, half, "was not judged"},
		"with one":                {sampled(1, level), nil, half, "was not judged"},
		"with few":                {sampled(60, level), nil, half, "was not judged"},
		"in a short run":          {nil, nil, 10 * time.Second, ""},
		"with samples that fail":  {sampled(300, level), []error{errors.New("no such file")}, half, "no such file"},
		"short and with failures": {nil, []error{errors.New("no such file")}, time.Second, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory{samples: map[string][]sample{"a": tt.samples}, failed: tt.failed}
			got := errors.Join(m.faults([]held{m.summary("a", began)}, tt.half)...)
			if (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Error(), tt.want) {
				t.Errorf("got %v, want %q", got, tt.want)
			}
		})
	}
}

func TestHeapFaults(t *testing.T) {
	t.Parallel()
	before := map[string]liveHeap{"a": {pid: 1, bytes: 16e6}}
	for name, tt := range map[string]struct {
		after liveHeap
		want  int
	}{
		"level":         {liveHeap{1, 17e6}, 0},
		"growing":       {liveHeap{1, 21e6}, 1},
		"a new process": {liveHeap{2, 21e6}, 0},
	} {
		if got := heapFaults(before, map[string]liveHeap{"a": tt.after}); len(got) != tt.want {
			t.Errorf("%s: got %v, want %d faults", name, got, tt.want)
		}
	}
}
