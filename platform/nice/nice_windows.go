package nice

import "golang.org/x/sys/windows"

// Lower gives this process the priority class below normal.
func Lower() error {
	return windows.SetPriorityClass(windows.CurrentProcess(), windows.BELOW_NORMAL_PRIORITY_CLASS)
}
