package h2

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func TestBudget(t *testing.T) {
	b := newBudget(10, 100)
	for range 10 {
		if !b.spend(1) {
			t.Fatal("it is used up too early")
		}
	}
	if b.spend(1) {
		t.Error("it is not used up")
	}
	b.refilled = time.Now().Add(-50 * time.Millisecond) // 5, of which 1 is owed
	if !b.spend(3) {
		t.Error("time does not refill it")
	}
	b.earn(1000)
	if b.left != 10 {
		t.Errorf("%d are left, of at most 10", b.left)
	}
}

// Answers to frames that the caller does not read do not pile up.
func TestServer_boundedAnswers(t *testing.T) {
	c := &conn{waste: newBudget(10, 0)}
	c.out = make([]byte, maxControl)
	if err := c.wasted(1); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	c.out = append(c.out, 0)
	if c.wasted(1) == nil {
		t.Error("there is no limit")
	}
}

// The other side reads back the fields that appendField writes.
func TestServer_fields(t *testing.T) {
	long := string(bytes.Repeat([]byte("v"), 20_000))
	block := appendStatus(nil, 200)
	block = appendStatus(block, 418)
	for _, f := range [][2]string{
		{"Content-Type", "text/plain"}, {"X-A", ""}, {"Www-Authenticate", "Key"}, {"X-Long", long}, {"bad name", "x"},
		{"X-Bad", "a\nb"},
	} {
		block = appendField(block, f[0], f[1])
	}
	var got []hpack.HeaderField
	got, err := hpack.NewDecoder(0, nil).DecodeFull(block)
	if err != nil {
		t.Fatal(err)
	}
	want := []hpack.HeaderField{
		{Name: ":status", Value: "200"}, {Name: ":status", Value: "418"}, {Name: "content-type", Value: "text/plain"},
		{Name: "x-a"}, {Name: "www-authenticate", Value: "Key"}, {Name: "x-long", Value: long},
	}
	if len(got) != len(want) {
		t.Fatalf("%d fields, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}

// FuzzFrames feeds a connection any bytes behind its preface: it neither panics nor hangs.
func FuzzFrames(f *testing.F) {
	settings := appendFrame(nil, 0, http2.FrameSettings, 0, 0)
	f.Add(settings)
	f.Add(append(appendFrame(settings, 3, http2.FrameHeaders, 5, 1), 0x82, 0x84, 0x87))
	f.Add(append(appendFrame(settings, 3, http2.FrameHeaders, 4, 1), 0x83, 0x84, 0x87))
	f.Add(append(appendFrame(settings, 4, http2.FrameData, 9, 1), 1, 'a', 'b', 0))
	f.Add(appendWindowUpdate(settings, 0, 1))
	f.Fuzz(feed)
}

// A caller that reads too slowly is cut off, and one that reads 64 KiB within the limit is not.
func TestWrite_slowReader(t *testing.T) {
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
					p := make([]byte, piece)
					for {
						time.Sleep(tc.every)
						if _, err := io.ReadFull(caller, p); err != nil {
							return
						}
					}
				}()
				c := &conn{server: &Server{Limits: Limits{Write: limit}}, nc: ours, dead: make(chan struct{})}
				c.mu.Lock()
				for range 20 {
					c.out = append(c.room(), make([]byte, piece)...)
					c.write(1 << 20)
				}
				if stays := c.err == nil; stays != tc.stays {
					t.Errorf("the connection ended with %v", c.err)
				}
				c.mu.Unlock()
				_, _ = caller.Close(), ours.Close()
				<-over
			})
		})
	}
}
