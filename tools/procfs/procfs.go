// Package procfs reads the memory and the CPU time of processes from Linux's /proc, after proc(5).
//
// It owns the parsing. Each tool decides what it measures, and when.
package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Resident returns how many bytes of a process are in memory: VmRSS of /proc/pid/status.
func Resident(pid int) (float64, error) { return memory(pid, "VmRSS:") }

// Peak returns the most that was resident since the last ResetPeak, in bytes: VmHWM.
func Peak(pid int) (float64, error) { return memory(pid, "VmHWM:") }

// ResetPeak sets VmHWM to VmRSS (/proc/pid/clear_refs).
func ResetPeak(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("reset the peak memory of process %d: %w", pid, err)
	}
	return nil
}

// memory returns a field that is in kibibytes, in bytes. A process that has ended and is not
// waited for yet lacks the field.
func memory(pid int, field string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	_, rest, _ := strings.Cut(string(status), field)
	kibibytes, err := strconv.ParseFloat(strings.Fields(rest + " ?")[0], 64)
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	return kibibytes * 1024, nil
}
