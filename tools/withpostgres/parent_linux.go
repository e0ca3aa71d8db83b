package main

import "syscall"

// endWithParent has the kernel stop a process at once when this process is
// killed in a way that it cannot act on.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
