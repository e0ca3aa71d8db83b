package openfga_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postern/bundle/openfga"
	"postern/core/snapshot"
	"postern/testkit"
	"postern/testkit/servers"
)

const token = "a-token_of.the~server+/=="

// unpack writes the files of a source next to the script, and returns the folder.
func unpack(t *testing.T, s openfga.Source) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), `a folder with 'odd' $(name)`)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, write := range testkit.ByName(map[string]func(io.Writer) error{
		"model.json":     s.WriteJSON,
		"store.fga.yaml": s.WriteStore,
		"tuples.json":    func(w io.Writer) error { return s.WriteTuples(t.Context(), w) },
		"load.sh":        func(w io.Writer) error { _, err := io.WriteString(w, openfga.LoadScript); return err },
	}) {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load runs the script, which must exit with the status and say the texts.
func load(t *testing.T, dir string, status int, args []string, texts ...string) {
	t.Helper()
	temporary := t.TempDir()
	command := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(dir, "load.sh")}, args...)...)
	command.Env = append(os.Environ(), "TMPDIR="+temporary, "OPENFGA_TOKEN="+token)
	out, err := command.CombinedOutput()
	if got := command.ProcessState.ExitCode(); got != status {
		t.Fatalf("load.sh %v exits with %d, want %d: %v\n%s", args, got, status, err, out)
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			t.Errorf("load.sh %v does not say %q:\n%s", args, text, out)
		}
	}
	if status == 0 && strings.Contains(string(out), "curl:") {
		t.Errorf("load.sh %v prints an error of curl, and succeeds:\n%s", args, out)
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("load.sh leaves %s", left[0].Name())
	}
	if strings.Contains(string(out), token) {
		t.Errorf("load.sh prints the token:\n%s", out)
	}
}

// theStore returns the id of the only store of the source.
func theStore(t *testing.T, at *servers.OpenFGA, name string) string {
	t.Helper()
	ids := at.Stores(name)
	if len(ids) != 1 {
		t.Fatalf("stores of the name %s: %v, want one", name, ids)
	}
	return ids[0]
}

// The script fills a real server, in more pieces than one curl sends, and leaves what is loaded as it
// is.
func TestLoadScript(t *testing.T) {
	t.Parallel()
	at, s := servers.StartOpenFGA(t, token), source()
	s.Project.Revision = 7
	groups := &s.Tenants[0].Directory.Groups
	for i := range 10_150 { // a tuple each: nested in the one before
		g := snapshot.Group{ID: fmt.Sprintf("grp_x%d", i), Name: fmt.Sprintf("x%d", i)}
		if i > 0 {
			g.Parents = []string{fmt.Sprintf("grp_x%d", i-1)}
		}
		*groups = append(*groups, g)
	}
	dir := unpack(t, s)
	text, err := os.ReadFile(filepath.Join(dir, "tuples.json"))
	if err != nil {
		t.Fatal(err)
	}
	tuples := bytes.Count(text, []byte("\n  {"))

	load(t, dir, 1, []string{"--check", at.URL}, "the store shop.7 is not loaded")
	load(t, dir, 0, []string{at.URL + "/"}, fmt.Sprintf("%d tuples are in the store shop.7: ", tuples))
	id := theStore(t, at, "shop.7")
	if got := at.Count(id); got != tuples+1 {
		t.Errorf("%d tuples in the store, want %d and one that says so", got, tuples)
	}
	member := servers.Tuple{User: "user:usr_2", Relation: "member", Object: "group:grp_1"}
	if !at.Check(id, servers.Tuple{User: "user:usr_2", Relation: "member", Object: "group:grp_2"}) {
		t.Error("a member of a nested group is not in the outer one")
	}

	at.Delete(id, member)
	load(t, dir, 0, []string{at.URL}, "ok    the store shop.7 is loaded: "+id)
	load(t, dir, 0, []string{"--check", at.URL}, id)
	if at.Has(id, member) {
		t.Error("a tuple that was deleted after the load is back")
	}
	load(t, dir, 0, []string{"--again", at.URL}, fmt.Sprintf("%d tuples are in the store shop.7: %s", tuples, id))
	if got := at.Count(id); got != tuples+1 || !at.Has(id, member) {
		t.Errorf("%d tuples after loading again, want %d", got, tuples+1)
	}
	load(t, dir, 0, []string{"--store", "another", at.URL}, "tuples are in the store another: ")
	if len(at.Stores("another")) != 1 || len(at.Stores("shop.7")) != 1 {
		t.Error("there is not one store of each name")
	}
}

// The files of an interrupted run don't end the next one.
func TestLoadScript_resumption(t *testing.T) {
	t.Parallel()
	at, s := servers.StartOpenFGA(t, token), source()
	whole := unpack(t, s)
	broken := unpack(t, s)
	path := filepath.Join(broken, "tuples.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("\n]"),
		[]byte(",\n  {\"user\":\"untyped\",\"relation\":\"x\",\"object\":\"y:1\"}\n]"), 1)
	for range 100 { // the last tuple is in a second piece
		text = bytes.Replace(text, []byte("[\n"),
			[]byte("[\n  "+`{"user":"user:a","relation":"by","object":"call:a"}`+",\n"), 1)
		text = bytes.Replace(text, []byte("call:a\""), fmt.Appendf(nil, "call:%d\"", bytes.Count(text, []byte("\n"))),
			1)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	load(t, broken, 1, []string{at.URL}, "cannot write the tuples: 400: ", "Run load.sh again")
	id := theStore(t, at, "shop.0")
	if at.Count(id) < 100 {
		t.Fatal("the first piece was not written, so that this shows nothing")
	}
	load(t, whole, 1, []string{"--check", at.URL}, "not loaded")
	load(t, whole, 0, []string{at.URL}, "tuples are in the store shop.0: "+id)
	load(t, whole, 0, []string{"--check", at.URL}, id)
}

func TestLoadScript_errors(t *testing.T) {
	t.Parallel()
	at := servers.StartOpenFGA(t, "another-token")
	dir := unpack(t, source())
	load(t, dir, 1, []string{at.URL}, "cannot look up the store shop.0: 401: ")
	load(t, dir, 1, []string{"--wait", "0", "http://127.0.0.1:1"}, "not ready after 0 seconds: nothing responds at")
	for _, args := range [][]string{
		nil, {"ftp://x"}, {"http://a b"}, {"--store", "a/b", at.URL}, {"--wait", "x", at.URL}, {"--nope"},
		{at.URL, at.URL},
	} {
		load(t, dir, 2, args, "usage: ./load.sh")
	}
	if err := os.Remove(filepath.Join(dir, "tuples.json")); err != nil {
		t.Fatal(err)
	}
	load(t, dir, 1, []string{at.URL}, "tuples.json is missing. It must be in the same folder")
}

func TestLoadScript_shellcheck(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "shellcheck", "load.sh").CombinedOutput()
	if err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
