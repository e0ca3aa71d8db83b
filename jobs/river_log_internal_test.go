package jobs

import (
	"database/sql"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
)

func TestRiverLog(t *testing.T) {
	for name, c := range map[string]struct {
		stopping bool
		err      string
		want     bool // it is logged
	}{
		"a commit while the workers run":  {false, sql.ErrTxDone.Error(), true},
		"a commit while the workers stop": {true, sql.ErrTxDone.Error(), false},
		"a statement that was cancelled":  {true, "insert: context canceled", false},
		"another error in the meantime":   {true, "disk full", true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			var stopping atomic.Bool
			stopping.Store(c.stopping)
			log := slog.New(riverLog{slog.NewTextHandler(&out, nil), &stopping}).With("client", "w").WithGroup("job")
			log.Error("it failed", "error", c.err)
			if logged := out.Len() > 0; logged != c.want {
				t.Errorf("logged %v, want %v: %s", logged, c.want, out.String())
			}
		})
	}
}
