package controlplane

import (
	"bytes"
	"sync"
)

// Logbook keeps what is logged, at every level.
type Logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *Logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
