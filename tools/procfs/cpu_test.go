package procfs

import (
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// TestTreeCPU has a child of a child, which has ended, and this process use the CPU.
func TestTreeCPU(t *testing.T) {
	pid := os.Getpid()
	_, totalBefore, err := Machine()
	if err != nil {
		t.Fatal(err)
	}
	before, err := TreeCPU(pid)
	if err != nil {
		t.Fatal(err)
	}
	ownBefore, err := CPU(pid)
	if err != nil {
		t.Fatal(err)
	}
	const busy = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; :"
	if out, err := exec.Command("sh", "-c", busy).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after, err := TreeCPU(pid)
	if err != nil {
		t.Fatal(err)
	}
	own, err := CPU(pid)
	if err != nil {
		t.Fatal(err)
	}
	if used, by := after-before, own-ownBefore; used <= by {
		t.Errorf("this process and what it has started have used %s, and it alone %s", used, by)
	}
	used, total, err := Machine()
	if err != nil || used <= 0 || used > total || total <= totalBefore {
		t.Errorf("the machine has used %s of %s, of which there were %s before; %v", used, total, totalBefore, err)
	}
	if got, err := CPU(math.MaxInt32); err == nil {
		t.Errorf("a process that does not exist has used %s", got)
	}
}

func TestChildren(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	parent, err := Parent(child.Process.Pid)
	if err != nil || parent != os.Getpid() {
		t.Errorf("the parent is %d, want %d; %v", parent, os.Getpid(), err)
	}
	// The kernel lists the children of a thread; this one may have been another.
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil || len(tasks) == 0 {
		t.Fatal(err)
	}
	children, err := Children(os.Getpid())
	if err != nil || len(children) > 0 && !slices.Contains(children, child.Process.Pid) {
		t.Errorf("children %v, want %d among them; %v", children, child.Process.Pid, err)
	}
}
