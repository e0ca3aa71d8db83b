package gateway

import "io"

// frames follows the frames of a WebSocket in one direction (RFC 6455, section 5.2), to know where another frame can be
// put.
type frames struct {
	mask bool // frames of callers are masked

	head   [14]byte // of the frame that has begun, as far as it was seen
	have   int
	left   uint64 // bytes of the frame's payload that are to come
	closed bool   // a close frame was seen, which is the last
}

// follow advances over bytes that were sent.
func (f *frames) follow(p []byte) {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, uint64(len(p)))
			f.left, p = f.left-n, p[n:]
			continue
		}
		f.head[f.have] = p[0]
		p = p[1:]
		if f.have++; f.have == f.headSize() {
			f.left, f.closed, f.have = f.payload(), f.closed || f.head[0]&0x0f == opClose, 0
		}
	}
}

const opClose = 8 // a close frame's opcode

// headSize returns the size of the head that has begun, 0 if that isn't known yet.
func (f *frames) headSize() int {
	if f.have < 2 {
		return 0
	}
	size := 2
	switch f.head[1] & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if f.head[1]&0x80 != 0 {
		size += 4
	}
	return size
}

func (f *frames) payload() (size uint64) {
	short := f.head[1] & 0x7f
	var end int // of the extended payload length
	switch short {
	case 126:
		end = 4
	case 127:
		end = 10
	default:
		return uint64(short)
	}
	for _, b := range f.head[2:end] {
		size = size<<8 | uint64(b)
	}
	return size
}

// sayGoingAway writes a close frame with the status 1001, unless no frame can be put there: within another one, and
// after the last one.
func (f *frames) sayGoingAway(to io.Writer) {
	frame := []byte{0x80 | opClose, 2, 0x03, 0xe9}
	if f.mask {
		frame = []byte{0x80 | opClose, 0x80 | 2, 0, 0, 0, 0, 0x03, 0xe9} // any mask will do: there is nothing to hide
	}
	if !f.closed && f.have == 0 && f.left == 0 {
		_, _ = to.Write(frame)
	}
}
