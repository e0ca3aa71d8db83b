package movein_test

import (
	"crypto/sha1"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"postern/core/movein"
)

// largeFile is a file of about 20 MB with 1,000 routes of 100 services, and 100,000 keys of 20,000 consumers.
func largeFile() string {
	var out strings.Builder
	out.WriteString("_format_version: \"3.0\"\nplugins:\n- name: key-auth\n  config:\n    hide_credentials: true\n" +
		"services:\n")
	for i := range 100 {
		fmt.Fprintf(&out, "- name: service-%d\n  host: backend-%d.example.net\n  port: 8080\n  protocol: http\n"+
			"  connect_timeout: 60000\n  read_timeout: 60000\n  write_timeout: 60000\n  plugins:\n  - name: acl\n"+
			"    config:\n      allow:\n      - group-%d\n      - group-%d\n  routes:\n", i, i, i%50, (i+1)%50)
		for n := range 10 {
			fmt.Fprintf(&out, "  - name: route-%d-%d\n    hosts:\n    - api-%d.example.com\n    paths:\n"+
				"    - /v1/part-%d-%d\n    methods:\n    - GET\n    - POST\n    strip_path: false\n    protocols:\n"+
				"    - http\n    - https\n",
				i, n, i%20, i, n)
		}
	}
	out.WriteString("consumers:\n")
	for i := range 20_000 {
		fmt.Fprintf(&out, "- username: consumer-%d\n  custom_id: \"%d\"\n  tags:\n  - managed-by-deck\n  acls:\n"+
			"  - group: group-%d\n    tags:\n    - managed-by-deck\n  keyauth_credentials:\n", i, 1_000_000+i, i%50)
		for n := range 5 {
			fmt.Fprintf(&out, "  - id: 5f7c0a4e-6b0c-4a55-9d3c-%012x\n    key: %x\n    tags:\n    - managed-by-deck\n"+
				"    - exported-from-the-old-gateway\n", 5*i+n, sha1.Sum(fmt.Append(nil, i, n)))
		}
	}
	return out.String()
}

// The time and the memory of a plan of a large file: peak-MB is what the heap grows by at most.
func BenchmarkKong_large(b *testing.B) {
	text := []byte(largeFile())
	for b.Loop() {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		stop, peak := make(chan struct{}), make(chan uint64)
		go func() {
			highest := uint64(0)
			for {
				select {
				case <-stop:
					peak <- highest
					return
				case <-time.After(20 * time.Millisecond):
					runtime.ReadMemStats(&after)
					highest = max(highest, after.HeapInuse)
				}
			}
		}()
		files, err := movein.Read([]movein.File{{Text: text}})
		if err != nil {
			b.Fatal(err)
		}
		plan, err := files.Plan(nil, movein.Options{Now: now})
		if err != nil {
			b.Fatal(err)
		}
		close(stop)
		highest := <-peak
		if plan.Keys.Imported != 100_000 || len(plan.Items) != 141_201 {
			b.Fatalf("%d keys and %d items", plan.Keys.Imported, len(plan.Items))
		}
		b.ReportMetric(float64(highest-min(highest, before.HeapInuse))/1e6, "peak-MB")
		b.ReportMetric(float64(len(text))/1e6, "file-MB")
	}
}
