package engine

import (
	"math"
	"strconv"
	"testing"
)

func TestAppendNumber_strconv(t *testing.T) {
	check := func(n int64) {
		if got, want := string(AppendNumber(nil, "N", n)), "N: "+strconv.FormatInt(n, 10)+"\r\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for n := range int64(2000) {
		check(n)
	}
	for power := int64(1); power > 0 && power <= math.MaxInt64/10; power *= 10 {
		for _, near := range []int64{-1, 0, 1} {
			check(power + near)
		}
	}
	for n := int64(1); n > 0; n <<= 1 {
		check(n - 1)
		check(n)
	}
	check(math.MaxInt64)
}
