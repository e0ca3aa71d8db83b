package testkit_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"postern/testkit"
)

// failing is a test that keeps the message of its failure.
type failing struct{ message string }

func (*failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestAwait(t *testing.T) {
	for name, holdsAt := range map[string]int{"holds at last": 5, "never holds": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var looks, got int
				within, ended := &failing{}, make(chan struct{})
				go func() {
					defer close(ended)
					got = testkit.Await(within, "the look", func() (int, bool) {
						looks++
						return looks, looks == holdsAt
					})
				}()
				<-ended
				want := ""
				if holdsAt < 0 {
					want = fmt.Sprintf("waited in vain for this: the look; at last: %d", looks)
				} else if looks != holdsAt || got != looks {
					t.Errorf("%d after %d looks, want %d", got, looks, holdsAt)
				}
				if within.message != want {
					t.Errorf("it fails with %q, want %q", within.message, want)
				}
			})
		})
	}
}
