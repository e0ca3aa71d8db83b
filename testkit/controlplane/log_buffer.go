package controlplane

import (
	"bytes"
	"sync"
)

// LogBuffer keeps what is logged, at every level.
type LogBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *LogBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *LogBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
