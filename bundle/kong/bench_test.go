package kong

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"runtime"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// many streams n keys of n/10 owners without holding any.
func many(n int) func(context.Context) iter.Seq2[snapshot.Key, error] {
	return func(context.Context) iter.Seq2[snapshot.Key, error] {
		return func(yield func(snapshot.Key, error) bool) {
			k := sample.Keys()["active"].Key
			for i := range n {
				k.ID = fmt.Sprintf("key_%09d", i)
				k.Owner = fmt.Sprintf("owner-%d", i/10)
				binary.BigEndian.PutUint64(k.Hash[:], uint64(i))
				if !yield(k, nil) {
					return
				}
			}
		}
	}
}

// BenchmarkExport writes and verifies gateway exports. heap-MB is the live heap
// while the last part is written: it must not grow with the keys.
func BenchmarkExport(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("write/keys=%d", n), func(b *testing.B) {
			in := manyInput(n)
			var live uint64
			in.Progress = func(_ string, done, total int64) {
				if done == total {
					var m runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&m)
					live = max(live, m.HeapAlloc)
				}
			}
			for b.Loop() {
				if _, err := bundle.Write(b.Context(), io.Discard, in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(live)/1e6, "heap-MB")
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
		})
	}
	b.Run("verify/keys=100000", func(b *testing.B) {
		var out bytes.Buffer
		if _, err := bundle.Write(b.Context(), &out, manyInput(100_000)); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := check(b, out.Bytes()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func manyInput(n int) bundle.Input {
	in := sampleInput()
	in.Keys, in.KeyCount = many(n), int64(n)
	return in
}
