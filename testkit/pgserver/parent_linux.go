package pgserver

import "syscall"

// EndWithParent has the kernel stop a process at once when this process is
// killed in a way that it cannot act on.
func EndWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
