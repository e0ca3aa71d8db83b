package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"postern/e2e/harness"
)

// operator is a directory in which an operator runs the commands of the documentation.
type operator struct {
	dir string
	env []string
}

// newOperator creates a directory with the private key backup.key; $RECIPIENT is its public key, and postern is in
// PATH.
func newOperator(t *testing.T, env ...string) operator {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	d := operator{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(d.dir, "backup.key"), []byte(identity.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env = slices.Concat(os.Environ(), []string{
		"PATH=" + filepath.Dir(harness.Program(t)) + ":" + os.Getenv("PATH"),
		"RECIPIENT=" + identity.Recipient().String(),
	}, env)
	return d
}

// runs executes a marked block of a page of the documentation, with more variables.
func (d operator) runs(t *testing.T, page, name string, env ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- run: " + regexp.QuoteMeta(name) + " -->\n```sh\n(.*?)```").FindStringSubmatch(
		string(text))
	if block == nil {
		t.Fatalf("docs/%s has no block that is marked <!-- run: %s -->", page, name)
	}
	out, err := d.shell(block[1], env...)
	if err != nil {
		t.Fatalf("docs/%s, %s: %v\n%s", page, name, err, out)
	}
	return out
}

// shell executes commands, the first failure of which ends them.
func (d operator) shell(script string, env ...string) (string, error) {
	command := exec.Command("sh", "-eu", "-c", script)
	command.Dir = d.dir
	command.Env = slices.Concat(d.env, env)
	out, err := command.CombinedOutput()
	return string(out), err
}

// refused executes commands that must fail with a text.
func (d operator) refused(t *testing.T, script, says string, env ...string) {
	t.Helper()
	out, err := d.shell(script, env...)
	if err == nil || !strings.Contains(out, says) {
		t.Errorf("%s: error %v, output %q; want an error that says %q", script, err, out, says)
	}
}

func dataDir(dir string) string { return fmt.Sprintf("POSTERN_DATA_DIR=%s", dir) }
