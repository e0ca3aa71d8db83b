package turns_test

import (
	"runtime"
	"testing"

	"postern/platform/turns"
)

func TestBackground(t *testing.T) {
	before, places := runtime.GOMAXPROCS(0), turns.Most()
	check := func(when string, want int) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("%s: %d threads, want %d", when, got, want)
		}
		if got := turns.Most(); got != places {
			t.Errorf("%s: %d places, want %d", when, got, places)
		}
	}
	first := turns.Background()
	check("during long work", before+2)
	second := turns.Background()
	check("during two pieces of it", before+2)
	first()
	first() // counts once
	check("after the first", before+2)
	second()
	check("after both", before)
}
