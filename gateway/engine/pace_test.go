package engine

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A caller has the limit for each 64 KiB, and never more than the limit for a write.
func TestPace(t *testing.T) {
	const limit = 64 * time.Second // a second for each KiB
	type write struct {
		kib  int
		took time.Duration
		want time.Duration // that it may take
	}
	for name, writes := range map[string][]write{
		"at once":              {{64, 0, limit}, {1, 0, limit}, {64, 0, limit}},
		"large pieces, slowly": {{64, 60 * time.Second, limit}, {64, 60 * time.Second, limit}, {64, 0, limit}},
		"small pieces, slowly": {
			{1, 33 * time.Second, limit}, {1, 20 * time.Second, 33 * time.Second}, {1, 0, 14 * time.Second},
		},
		"catches up":             {{1, 33 * time.Second, limit}, {16, 0, 48 * time.Second}, {1, 0, 49 * time.Second}},
		"saves nothing":          {{64, 0, limit}, {64, 0, limit}, {0, limit, limit}, {0, 0, time.Nanosecond}},
		"a huge piece counts 64": {{1 << 20, limit, limit}, {0, 0, limit}},
	} {
		t.Run(name, func(t *testing.T) {
			var p Pace
			for i, w := range writes {
				if got := p.Wait(limit, w.kib<<10); got != w.want {
					t.Errorf("write %d may take %s, want %s", i, got, w.want)
				}
				p.Wrote(limit, w.kib<<10, w.took)
			}
		})
	}
}

// reads takes n bytes of a connection at a time.
func reads(from net.Conn, n int, every time.Duration) {
	piece := make([]byte, n)
	for {
		time.Sleep(every)
		if _, err := io.ReadFull(from, piece); err != nil {
			return
		}
	}
}

// A caller that reads an answer too slowly is cut off, and one that reads 64 KiB within the limit is not.
func TestExchange_slowReader(t *testing.T) {
	const limit, piece = time.Minute, 16 << 10
	for name, tc := range map[string]struct {
		every time.Duration // in which a piece is read
		stays bool
	}{
		"slow":      {40 * time.Second, false},
		"in time":   {14 * time.Second, true},
		"not a bit": {2 * limit, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caller, ours := net.Pipe()
				over := make(chan struct{})
				go func() {
					defer close(over)
					reads(caller, piece, tc.every)
				}()
				c := &conn{server: &Server{Limits: Limits{Idle: limit}}}
				c.open(ours)
				x := &c.exchange
				x.conn, x.Began = c, time.Now()
				sent := 0
				for sent < 20 && x.send(make([]byte, piece)) {
					sent++
				}
				if stays := sent == 20; stays != tc.stays {
					t.Errorf("%d pieces were sent", sent)
				}
				_, err := ours.Write([]byte("x"))
				if !tc.stays && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("it ended with %v", err)
				}
				_, _ = caller.Close(), ours.Close()
				<-over
			})
		})
	}
}
