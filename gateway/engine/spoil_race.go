//go:build race

package engine

// spoils has heads overwritten after each call, so that tests fail when code retains a string
// of one.
const spoils = true

func spoil(head []byte) {
	head = head[:cap(head)]
	for i := range head {
		head[i] = '!'
	}
}
