package usage

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	last := -1
	for us := range 300_000 {
		bucket := bucketOf(time.Duration(us) * time.Microsecond)
		if bucket != last && bucket != last+1 {
			t.Fatalf("%d µs are in bucket %d, after %d", us, bucket, last)
		}
		last = bucket
		if from, width := boundsOf(bucket); float64(us) < from || float64(us) >= from+width {
			t.Fatalf("%d µs are in the bucket from %v on, of width %v", us, from, width)
		}
	}
	if got := bucketOf(24 * time.Hour); got != buckets-1 {
		t.Errorf("a day is in bucket %d, want %d", got, buckets-1)
	}
	if got := bucketOf(-time.Second); got != 0 {
		t.Errorf("a negative duration is in bucket %d", got)
	}
}

func TestHistogram(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	var merged, whole histogram
	for range 5 {
		var one histogram
		for range 4000 {
			d := time.Duration(math.Exp(random.NormFloat64()+9)) * time.Microsecond
			one.observe(d)
			whole.observe(d)
			all = append(all, d)
		}
		if err := merged.mergeEncoded(one.encode()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(merged.encode(), whole.encode()) {
		t.Error("histograms that were encoded and merged differ from one of all durations")
	}
	slices.Sort(all)
	for _, part := range []float64{0, 0.5, 0.95, 0.99, 1} {
		got, want := whole.quantile(part), all[min(int(part*float64(len(all))), len(all)-1)]
		if off := math.Abs(float64(got-want)) / float64(want); off > 1.0/perOctave {
			t.Errorf("quantile %v is %v, want %v", part, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { whole.observe(9 * time.Millisecond) }); n != 0 {
		t.Errorf("observe allocates %v times", n)
	}
}

// Histograms of any ranges must merge as their counts, added one by one.
func TestHistogram_merge(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var merged, decoded histogram
		want := map[int]uint64{}
		for range 1 + random.IntN(5) {
			var one histogram
			for range random.IntN(6) {
				bucket, n := random.IntN(buckets), 1+random.Uint64N(1<<random.IntN(40))
				one.add(bucket, n)
				want[bucket] += n
			}
			merged.merge(&one)
			if err := decoded.mergeEncoded(one.encode()); err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range []histogram{merged, decoded} {
			got := map[int]uint64{}
			for i, n := range h.counts {
				if n > 0 {
					got[h.first+i] = n
				}
			}
			if !maps.Equal(got, want) || !slices.Equal(h.encode(), merged.encode()) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	}
}

func TestHistogram_empty(t *testing.T) {
	var h histogram
	if got := h.quantile(0.95); got != 0 || h.encode() != nil {
		t.Errorf("quantile %v, encoded %v", got, h.encode())
	}
}

func TestHistogram_damaged(t *testing.T) {
	for _, data := range [][]byte{{0x80}, {0, 0x80}, {215, 1, 1, 1}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1}} {
		var h histogram
		if err := h.mergeEncoded(data); err == nil {
			t.Errorf("mergeEncoded(%v) succeeds", data)
		}
	}
}
