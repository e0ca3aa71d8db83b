package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// An export of many rows is written by a process whose threads all have a low priority, which is
// told no secret in its arguments or its environment, and which ends with a server that is killed.
func TestExport_lowPriority(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const key = "bG93ZXN0LXByaW9yaXR5LW9mLWFsbC1wcm9jZXNzZXM="
	server := harness.Serve(t, data, "", "POSTERN_SECRETS_KEY="+key)
	proxy := newProxy(t, server.URL)
	addKeys(t, "", filepath.Join(data, "postern.db"), proxy.Project.ID)
	api := harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal())

	// A process that has done its work before it is looked at is followed by another one.
	writer := testkit.Await(t, "a process that writes an export", func() (string, bool) {
		in := contract.NewExport{Format: "gateway"}.In(proxy.Project.ID)
		export, err := client.Do(t.Context(), api, contract.CreateExport, in)
		if err != nil {
			t.Fatal(err)
		}
		for {
			e, err := client.Do(t.Context(), api, contract.GetExport, contract.ExportPath{Export: export.ID})
			if err != nil {
				t.Fatal(err)
			}
			if id := childOf(server.Command.Process.Pid); id != "" && heldAtLow(t, id) {
				return id, true
			}
			if e.State != "queued" && e.State != "building" {
				return "", false
			}
		}
	})
	for _, file := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(filepath.Join("/proc", writer, file))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(key)) || bytes.Contains(text, []byte("POSTERN_")) {
			t.Errorf("the %s of the process has settings of the server: %q", file, text)
		}
	}
	server.End(t, syscall.SIGKILL)
	signalTo(t, writer, syscall.SIGCONT)
	testkit.Eventually(t, "the end of the process", func() bool {
		state, _ := statOf(filepath.Join("/proc", writer))
		return state == "" || state == "Z"
	})
}

// childOf returns the id of a child of a process, "" without one.
func childOf(parent int) string {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, file := range threads {
		ids, _ := os.ReadFile(file)
		if fields := strings.Fields(string(ids)); len(fields) > 0 {
			return fields[0]
		}
	}
	return ""
}

// heldAtLow stops a process all of whose threads have a low priority, and returns false for
// another one, such as one that has only begun.
func heldAtLow(t *testing.T, id string) bool {
	threads, _ := filepath.Glob(filepath.Join("/proc", id, "task", "*"))
	for _, thread := range threads {
		if _, nice := statOf(thread); nice != 10 {
			return false
		}
	}
	if len(threads) == 0 {
		return false
	}
	signalTo(t, id, syscall.SIGSTOP)
	t.Cleanup(func() { signalTo(t, id, syscall.SIGKILL) })
	state, _ := statOf(filepath.Join("/proc", id))
	return state != "" && state != "Z"
}

// statOf returns the state and the nice value of a process or a thread (proc_pid_stat(5)), "" if it is gone.
func statOf(dir string) (state string, nice int) {
	text, _ := os.ReadFile(filepath.Join(dir, "stat"))
	_, rest, ok := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 17 {
		return "", 0
	}
	nice, _ = strconv.Atoi(fields[16])
	return fields[0], nice
}

func signalTo(t *testing.T, id string, signal syscall.Signal) {
	t.Helper()
	pid, err := strconv.Atoi(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Log(err) // it may have ended
	}
}
