package gateway

import (
	"bytes"
	"strings"
	"testing"
)

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for name, tc := range map[string]struct {
		sent string
		free bool // another frame can be put after it
	}{
		"nothing":                      {"", true},
		"a frame":                      {"\x81\x02hi", true},
		"without a payload":            {"\x89\x00", true},
		"two frames":                   {"\x01\x01a\x80\x01b", true},
		"masked":                       {"\x81\x82abcdhi", true},
		"of 300 bytes":                 {"\x82\x7e\x01\x2c" + long[:300], true},
		"of 70,000 bytes":              {"\x82\x7f\x00\x00\x00\x00\x00\x01\x11\x70" + long, true},
		"of 70,000 bytes, masked":      {"\x82\xff\x00\x00\x00\x00\x00\x01\x11\x70abcd" + long, true},
		"the first byte":               {"\x81", false},
		"a head without its mask":      {"\x81\x82abc", false},
		"a head without its length":    {"\x82\x7e\x01", false},
		"a payload without its end":    {"\x81\x03hi", false},
		"a frame and a part":           {"\x81\x02hi\x81", false},
		"a close frame":                {"\x88\x02\x03\xe8", false},
		"a close frame without status": {"\x81\x02hi\x88\x00", false},
	} {
		for _, size := range []int{1, 3, len(tc.sent) + 1} {
			var f frames
			for rest := []byte(tc.sent); len(rest) > 0; {
				n := min(size, len(rest))
				f.follow(rest[:n])
				rest = rest[n:]
			}
			var to bytes.Buffer
			if f.sayGoingAway(&to); (to.Len() > 0) != tc.free {
				t.Errorf("%s, in pieces of %d bytes: wrote %q", name, size, to.String())
			}
		}
	}
}
