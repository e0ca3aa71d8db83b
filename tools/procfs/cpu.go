package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is USER_HZ, in which /proc counts; it is 100 on every Linux that Go runs on.
const tick = time.Second / 100

// stat has the fields of /proc/pid/stat that are read here.
type stat struct {
	pid, parent int
	own, reaped time.Duration // CPU, user and system; that of children which have been waited for
}

func statOf(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, fmt.Errorf("read the state of process %d: %w", pid, err)
	}
	// The name in parentheses may hold spaces: count from behind it, where field 3 is.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("read the state of process %d: %d fields", pid, len(fields))
	}
	var numbers [5]int64
	for i, field := range []string{fields[1], fields[11], fields[12], fields[13], fields[14]} {
		if numbers[i], err = strconv.ParseInt(field, 10, 64); err != nil {
			return stat{}, fmt.Errorf("read the state of process %d: %w", pid, err)
		}
	}
	return stat{
		pid:    pid,
		parent: int(numbers[0]),
		own:    time.Duration(numbers[1]+numbers[2]) * tick,
		reaped: time.Duration(numbers[3]+numbers[4]) * tick,
	}, nil
}

// Parent returns the process that has started another one.
func Parent(pid int) (int, error) {
	s, err := statOf(pid)
	return s.parent, err
}

// CPU returns the CPU time that a process has used so far, user and system.
func CPU(pid int) (time.Duration, error) {
	s, err := statOf(pid)
	return s.own, err
}

// Children returns the processes that a process has started and that have not ended.
func Children(pid int) ([]int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return nil, fmt.Errorf("read the children of process %d: %w", pid, err)
	}
	var out []int
	for field := range strings.FieldsSeq(string(text)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("read the children of process %d: %w", pid, err)
		}
		out = append(out, child)
	}
	return out, nil
}

// TreeCPU returns the CPU time that a process and all that it has started have used so far. The time of ended processes
// that no parent waited for is missing.
func TreeCPU(root int) (time.Duration, error) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	children := map[int][]stat{}
	var used time.Duration
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			return 0, err
		}
		s, err := statOf(pid)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has just ended
		}
		if err != nil {
			return 0, err
		}
		children[s.parent] = append(children[s.parent], s)
		if pid == root {
			used = s.own + s.reaped
		}
	}
	for left := children[root]; len(left) > 0; left = left[1:] {
		used += left[0].own + left[0].reaped
		left = append(left, children[left[0].pid]...)
	}
	return used, nil
}

// Machine returns the CPU time that all programs have used so far, with what a hypervisor gave to
// others, and how much of it there was: the first line of /proc/stat.
func Machine() (used, total time.Duration, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, fmt.Errorf("read the CPU time of the machine: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return 0, 0, fmt.Errorf("read the CPU time of the machine: %q", line)
	}
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("read the CPU time of the machine: %w", err)
		}
		total += time.Duration(ticks) * tick
		if i != 3 && i != 4 { // idle, and idle while it waits for a disk
			used += time.Duration(ticks) * tick
		}
	}
	return used, total, nil
}
