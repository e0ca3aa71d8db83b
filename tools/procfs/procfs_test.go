package procfs

import (
	"math"
	"os"
	"testing"
)

func TestMemory(t *testing.T) {
	const mebibyte = 1 << 20
	pid := os.Getpid()
	resident, err := Resident(pid)
	if err != nil || resident < mebibyte {
		t.Errorf("this process has %g bytes in memory, %v", resident, err)
	}
	if err := ResetPeak(pid); err != nil {
		t.Error(err)
	}
	peak, err := Peak(pid)
	if err != nil || peak < mebibyte {
		t.Errorf("its peak is %g bytes, %v", peak, err)
	}
	if got, err := Resident(math.MaxInt32); err == nil {
		t.Errorf("a process that does not exist has %g bytes in memory", got)
	}
}
