package usage

import (
	"os"
	"testing"
	"time"
)

// A busy machine may take longer for a batch than a server is given.
func TestMain(m *testing.M) {
	flushTimeout, foldTimeout = 5*time.Minute, 5*time.Minute
	os.Exit(m.Run())
}
