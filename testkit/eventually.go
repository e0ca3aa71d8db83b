package testkit

import "time"

// patience is how long Eventually waits. It guards against a test that hangs, and is long enough for a busy machine.
const patience = 2 * time.Minute

// Failer is what Eventually needs of a *testing.T.
type Failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Eventually waits until a condition holds, and fails the test if it never does. Tests poll only with Eventually and
// Await.
func Eventually(t Failer, what string, holds func() bool) {
	t.Helper()
	if !poll(holds) {
		t.Fatalf("waited in vain for this: %s", what)
	}
}

// Await waits until look returns true, and returns its value. It fails the test with the last value if that is never
// the case.
func Await[T any](t Failer, what string, look func() (T, bool)) T {
	t.Helper()
	var last T
	found := poll(func() (ok bool) {
		last, ok = look()
		return ok
	})
	if !found {
		t.Fatalf("waited in vain for this: %s; at last: %+v", what, last)
	}
	return last
}

// poll looks often at first, and less often at what takes longer.
func poll(holds func() bool) bool {
	pause := time.Millisecond
	for deadline := time.Now().Add(patience); !holds(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
