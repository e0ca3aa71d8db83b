package nice

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// Lower gives all threads of this process a low priority, and so those that they start. Linux has a priority for each
// thread (setpriority(2)); threads may start while others are lowered, so it continues until none is left.
func Lower() error {
	for {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		left := false
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil {
				return err
			}
			lowered, err := lower(id)
			if err != nil {
				return err
			}
			left = left || lowered
		}
		if !left {
			return nil
		}
	}
}

// lower reports whether a thread had a higher priority.
func lower(id int) (bool, error) {
	value, err := syscall.Getpriority(syscall.PRIO_PROCESS, id)
	if err == nil && 20-value >= low { // as the system call returns it
		return false, nil
	}
	if err == nil {
		err = syscall.Setpriority(syscall.PRIO_PROCESS, id, low)
	}
	if errors.Is(err, syscall.ESRCH) { // it has ended
		return false, nil
	}
	return true, err
}
