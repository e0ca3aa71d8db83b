//go:build race

package engine

// spoils makes it seen in the tests when somebody keeps a string of a head for longer
// than the call.
const spoils = true

func spoil(head []byte) {
	head = head[:cap(head)]
	for i := range head {
		head[i] = '!'
	}
}
