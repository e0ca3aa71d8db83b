package usage

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"time"
)

// The bounds of buckets are fixed, so that histograms of replicas, routes and hours merge by adding: each power of two
// microseconds has perOctave buckets of equal width, and the last bucket has all that takes longer than 17 minutes.
const (
	perOctave = 8
	buckets   = 27 * perOctave
)

// histogram counts durations in buckets. It holds those from the first to the last that is in use.
type histogram struct {
	first  int
	counts []uint64
}

// bucketOf returns the bucket of a duration.
func bucketOf(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	if us < 2*perOctave {
		return int(us)
	}
	octave := bits.Len64(us) - bits.Len64(2*perOctave-1)
	return min(octave*perOctave+int(us>>octave), buckets-1)
}

// boundsOf returns where a bucket begins and how wide it is, in microseconds.
func boundsOf(bucket int) (from, width float64) {
	if bucket < 2*perOctave {
		return float64(bucket), 1
	}
	octave := bucket/perOctave - 1
	return float64((perOctave + bucket%perOctave) << octave), float64(int(1) << octave)
}

func (h *histogram) observe(d time.Duration) {
	bucket := bucketOf(d)
	if at := bucket - h.first; at >= 0 && at < len(h.counts) {
		h.counts[at]++
		return
	}
	h.add(bucket, 1)
}

// add adds to a bucket, and widens the range of those that are held.
func (h *histogram) add(bucket int, n uint64) {
	h.cover(bucket, bucket)
	h.counts[bucket-h.first] += n
}

// cover widens the range of buckets that are held.
func (h *histogram) cover(first, last int) {
	switch {
	case len(h.counts) == 0:
		h.first, h.counts = first, make([]uint64, 1, max(2*perOctave, last-first+1))
	case first < h.first:
		wider := make([]uint64, h.first-first+len(h.counts), max(h.first+len(h.counts), last+1)-first)
		copy(wider[h.first-first:], h.counts)
		h.first, h.counts = first, wider
	}
	if missing := last - h.first + 1 - len(h.counts); missing > 0 {
		h.counts = append(h.counts, make([]uint64, missing)...)
	}
}

func (h *histogram) merge(other *histogram) {
	if len(other.counts) == 0 {
		return
	}
	h.cover(other.first, other.first+len(other.counts)-1)
	to := h.counts[other.first-h.first:]
	for i, n := range other.counts {
		to[i] += n
	}
}

func (h *histogram) total() (n uint64) {
	for _, count := range h.counts {
		n += count
	}
	return n
}

// quantile returns the duration that a part of the calls did not exceed, such as 0.95: the place within its bucket is
// interpolated, so that it is off by at most an eighth. It is 0 without calls.
func (h *histogram) quantile(part float64) time.Duration { return h.rank(part * float64(h.total())) }

// rank returns the duration that so many calls did not exceed, as quantile does.
func (h *histogram) rank(rank float64) time.Duration {
	var before float64
	for i, count := range h.counts {
		n := float64(count)
		if n > 0 && before+n >= rank {
			from, width := boundsOf(h.first + i)
			us := from + width*max(rank-before, 0)/n
			return time.Duration(us * float64(time.Microsecond))
		}
		before += n
	}
	return 0
}

// encode returns the histogram for its column: the first bucket, then a count for each, as varints.
func (h *histogram) encode() []byte {
	if len(h.counts) == 0 {
		return nil
	}
	out := binary.AppendUvarint(make([]byte, 0, 2+2*len(h.counts)), uint64(h.first))
	for _, count := range h.counts {
		out = binary.AppendUvarint(out, count)
	}
	return out
}

var errHistogram = errors.New("a histogram is damaged")

// mergeEncoded adds what encode returned.
func (h *histogram) mergeEncoded(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	first, n := binary.Uvarint(data)
	if n <= 0 || first >= buckets {
		return errHistogram
	}
	if data = data[n:]; len(data) == 0 {
		return nil
	}
	held := 0 // counts: each ends with a byte below 0x80
	for _, b := range data {
		if b < 0x80 {
			held++
		}
	}
	last := int(first) + held - 1
	if held == 0 || last >= buckets {
		return errHistogram
	}
	h.cover(int(first), last)
	to := h.counts[int(first)-h.first:]
	for i := range held {
		count, n := uint64(data[0]), 1
		if count >= 0x80 {
			if count, n = binary.Uvarint(data); n <= 0 {
				return errHistogram
			}
		}
		to[i] += count
		data = data[n:]
	}
	if len(data) > 0 {
		return errHistogram
	}
	return nil
}
