package nice

import "golang.org/x/sys/windows"

// Lower gives this process the priority class that runs while others are idle.
func Lower() error {
	return windows.SetPriorityClass(windows.CurrentProcess(), windows.IDLE_PRIORITY_CLASS)
}
