//go:build conformance

package conformance

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/testkit/sample"
)

// A key that the exported add-key.sh creates is valid for the running Kong, and the upstream gets its owner.
func TestConformanceAddKey(t *testing.T) {
	up := newUpstream(t)
	folder := export(t, up)
	kong, _ := startKong(t, folder, up)
	script := filepath.Join(folder, "gateway", "add-key.sh")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", script, "--environment", "prod", "zoe")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "KONG_ADMIN_PORT=" + portOf(t, kong.admin)}
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("add-key.sh: %v\n%s", err, printed)
	}
	call := get("added", prod+"/x", "X-API-Key: "+strings.TrimSpace(string(printed)))
	out := kong.send(call)
	for t.Context().Err() == nil && out.Status != http.StatusOK { // its workers load it one after the other
		out = kong.send(call)
	}
	if len(out.Seen) != 1 {
		t.Fatalf("the upstream saw %v", out.Seen)
	}
	seen := out.Seen[0].Headers
	if seen.Get("X-Consumer-Username") != "zoe" ||
		seen.Get("X-Consumer-ID") != policy.ConsumerID(sample.ProjectID, "zoe") {
		t.Errorf("the upstream saw %v", seen)
	}
	if out := kong.send(get("before", prod+"/x", key(sample.Keys()["active"]))); out.Status != http.StatusOK {
		t.Errorf("a key of the export: status %d", out.Status)
	}
}
