package gateway

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// What a body that is read whole takes is what is held of it, within both budgets; all of it is free afterwards.
func FuzzReadWhole(f *testing.F) {
	f.Add(uint32(0), uint32(10), uint32(100), uint32(100), false)
	f.Add(uint32(20_000), uint32(1<<20), uint32(40_000), uint32(1<<30), true)
	f.Add(uint32(70_000), uint32(50_000), uint32(1<<30), uint32(60_000), false)
	f.Fuzz(func(t *testing.T, size, limit, process, project uint32, byteByByte bool) {
		size, limit = size%(1<<18), limit%(1<<18)+1
		sent := bytes.Repeat([]byte("x"), int(size))
		var from io.Reader = bytes.NewReader(sent)
		if byteByByte && size < 1<<12 {
			from = iotest.OneByteReader(from)
		}
		all, own := &bodyMemory{most: int64(process)}, &bodyMemory{most: int64(project)}
		hold := &bodyHold{process: all, project: own}
		body, err := readWhole(from, int64(limit), hold)
		held, most := hold.bytes.Load(), min(all.most, own.most)
		if held != int64(cap(body)) || held > most || held != all.held.Load() || held != own.held.Load() {
			t.Errorf("%d bytes are held of a body with room for %d, %d and %d in all, of %d and %d", held, cap(body),
				all.held.Load(), own.held.Load(), process, project)
		}
		want := sent[:min(size, limit)]
		switch {
		case errors.Is(err, errNoMemory):
			if !bytes.HasPrefix(want, body) || held+hold.missing.Load() <= most {
				t.Errorf("there was room for %d bytes more", hold.missing.Load())
			}
		case err != nil || !bytes.Equal(body, want):
			t.Errorf("%d bytes and %v, want %d", len(body), err, len(want))
		}
		hold.release()
		hold.release()
		if all.held.Load() != 0 || own.held.Load() != 0 {
			t.Errorf("%d and %d bytes are still held", all.held.Load(), own.held.Load())
		}
	})
}
