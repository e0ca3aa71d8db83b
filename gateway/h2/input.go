package h2

import "sync"

// input holds bytes that were read and not taken yet. It has a small buffer, and a large one while the caller sends
// much: most connections are idle.
type input struct {
	data  []byte
	r, w  int // data[r:w] was read and not taken yet
	last  int // size of the last read
	small [1 << 10]byte
	large *[largeInput]byte // nil: data is small
}

// largeInput has room for a frame and following data.
const largeInput = maxReceived + 4<<10

var inputs = sync.Pool{New: func() any { return new([largeInput]byte) }}

func (i *input) held() int    { return i.w - i.r }
func (i *input) free() []byte { return i.data[i.w:] }

// take returns the next n bytes, which must be held. They are valid until the next read.
func (i *input) take(n int) []byte {
	i.r += n
	return i.data[i.r-n : i.r]
}

// add notes that n bytes were read.
func (i *input) add(n int) { i.w, i.last = i.w+n, n }

// makeRoom makes room for a read, and for n bytes in total; n is at most the size of a frame.
func (i *input) makeRoom(n int) {
	if i.held() == 0 {
		i.r, i.w = 0, 0
		if i.large != nil && i.last < len(i.small)/2 && n <= len(i.small) {
			i.release()
		}
	}
	if i.data == nil {
		i.data = i.small[:]
	}
	if n > len(i.data) {
		i.enlarge()
	}
	if i.r+n > len(i.data) || i.w == len(i.data) {
		i.w = copy(i.data, i.data[i.r:i.w])
		i.r = 0
	}
}

// enlarge grows the buffer.
func (i *input) enlarge() {
	if i.large != nil {
		return
	}
	i.large = inputs.Get().(*[largeInput]byte)
	i.w = copy(i.large[:], i.data[i.r:i.w])
	i.r, i.data = 0, i.large[:]
}

// release returns the large buffer and its contents.
func (i *input) release() {
	if i.large != nil {
		inputs.Put(i.large)
	}
	i.large, i.data, i.r, i.w = nil, nil, 0, 0
}
