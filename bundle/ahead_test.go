package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// All bytes that are written arrive in order, however the writes are split.
func TestAhead(t *testing.T) {
	for _, size := range []int{0, 1, aheadBlock - 1, aheadBlock, aheadBlock + 1, 9*aheadBlock + 5} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			want := make([]byte, size)
			_, _ = rand.NewChaCha8([32]byte{1}).Read(want) // never fails
			var got bytes.Buffer
			a := &ahead{w: &got}
			for rest := want; len(rest) > 0; {
				n := min(len(rest), 1+rand.IntN(2*aheadBlock))
				if got, err := a.Write(rest[:n]); got != n || err != nil {
					t.Fatal(got, err)
				}
				rest = rest[n:]
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%d bytes arrived differently, want %d", got.Len(), len(want))
			}
		})
	}
}

// full takes some bytes and then fails.
type full struct{ room, calls int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	f.calls++
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// An error ends the writes soon, Close returns it too, and nothing is written after it.
func TestAhead_error(t *testing.T) {
	for _, blocks := range []int{0, 3} {
		to := &full{room: blocks * aheadBlock}
		a := &ahead{w: to}
		var err error
		for i := 0; err == nil && i < 100; i++ {
			_, err = a.Write(make([]byte, aheadBlock))
		}
		if !errors.Is(err, errFull) {
			t.Errorf("after %d blocks: %v, want that it is full", blocks, err)
		}
		if err := a.Close(); !errors.Is(err, errFull) || to.calls != blocks+1 {
			t.Errorf("close: %v after %d writes, want that it is full after %d", err, to.calls, blocks+1)
		}
	}
	a := &ahead{w: &full{}}
	if _, err := a.Write([]byte("short")); err != nil {
		t.Errorf("a write that fits into the block: %v", err)
	}
	if err := a.Close(); !errors.Is(err, errFull) {
		t.Errorf("close: %v", err)
	}
}
