package engine

import "sync"

// inbox holds bytes that were read and not used yet. It has memory only while it holds some:
// an idle connection costs none.
type inbox struct {
	data []byte // nil, or all of a pooled array
	r, w int    // data[r:w] was read and not used yet
}

// Sizes of pooled buffers. Heads and small bodies use the small size. Large bodies are 10% faster with the large one.
const (
	smallBox = 16 << 10
	largeBox = 64 << 10
	// Room around the held bytes, to frame them as a chunk in place.
	headroom = 16
	tailroom = 8
)

var (
	smallBoxes = sync.Pool{New: func() any { return new([headroom + smallBox + tailroom]byte) }}
	largeBoxes = sync.Pool{New: func() any { return new([headroom + largeBox + tailroom]byte) }}
)

func (b *inbox) held() []byte { return b.data[b.r:b.w] }
func (b *inbox) empty() bool  { return b.r == b.w }

// free returns the space for the next read. It allocates memory if there is none, and is empty
// if the inbox is full.
func (b *inbox) free() []byte {
	if b.data == nil {
		b.data = smallBoxes.Get().(*[headroom + smallBox + tailroom]byte)[:]
		b.r, b.w = headroom, headroom
	}
	return b.data[b.w : len(b.data)-tailroom]
}

// use drops the first n bytes held.
func (b *inbox) use(n int) {
	if b.r += n; b.r == b.w {
		b.r, b.w = headroom, headroom
	}
}

// settle moves the held bytes to the beginning, so that as much as possible is free.
func (b *inbox) settle() {
	if b.data != nil && b.r > headroom {
		b.w = headroom + copy(b.data[headroom:], b.data[b.r:b.w])
		b.r = headroom
	}
}

// enlarge moves the held bytes into memory of the large size. It returns false if they are.
func (b *inbox) enlarge() bool {
	if len(b.data) == headroom+largeBox+tailroom {
		return false
	}
	large := largeBoxes.Get().(*[headroom + largeBox + tailroom]byte)[:]
	n := 0
	if b.data != nil {
		n = copy(large[headroom:], b.held())
	}
	b.release()
	b.data, b.r, b.w = large, headroom, headroom+n
	return true
}

// release returns the memory to its pool and drops the held bytes.
func (b *inbox) release() {
	switch len(b.data) {
	case 0:
		return
	case headroom + smallBox + tailroom:
		smallBoxes.Put((*[headroom + smallBox + tailroom]byte)(b.data))
	default:
		largeBoxes.Put((*[headroom + largeBox + tailroom]byte)(b.data))
	}
	*b = inbox{}
}
