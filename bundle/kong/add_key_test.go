package kong

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/testkit/sample"
)

// addKey runs add-key.sh and returns its exit status and output.
func (r *rig) addKey(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh",
		append([]string{filepath.Join(r.folder, "add-key.sh")}, args...)...)
	cmd.Env, cmd.Dir = slices.Clone(r.env), t.TempDir()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("run add-key.sh: %v", err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// onDisk returns the text of gateway.yaml and what it says.
func (r *rig) onDisk(t *testing.T) (string, gatewayDoc) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.folder, "gateway.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var doc gatewayDoc
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("gateway.yaml: %v", err)
	}
	return string(text), doc
}

// added checks that a key is well formed and in the configuration, and returns its entry without its random ID.
func added(t *testing.T, doc gatewayDoc, printed string) string {
	t.Helper()
	key := strings.TrimSuffix(printed, "\n")
	if !policy.WellFormedKey(key) {
		t.Errorf("%q is not a well-formed key", key)
	}
	sum := sha256.Sum256([]byte(key))
	entry := doc.Plugins[0].Config.Keys[hex.EncodeToString(sum[:])]
	id, rest, _ := strings.Cut(entry, " ")
	if !regexp.MustCompile(`^key_[0-9A-Za-z]{20}$`).MatchString(id) {
		t.Errorf("the key's entry is %q", entry)
	}
	return rest
}

func TestAddKey(t *testing.T) {
	consumer := func(owner string) string { return policy.ConsumerID(sample.ProjectID, owner) }
	const odd = `o'dd "own\er" $(id) ${HOME} %s & \n`
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a new owner": {[]string{"zoe"},
			"tenant=tnt_1 type=kty_1 consumer=" + consumer("zoe") + " owner=zoe"},
		"an owner with keys": {[]string{"ana"},
			"tenant=tnt_1 type=kty_1 consumer=" + consumer("ana") + " owner=ana"},
		"every option": {[]string{"--tenant", "acme", "--environment", "prod", "--key-type", "read-only", "zoe"},
			"tenant=tnt_2 type=kty_3 env=prod consumer=" + consumer("zoe") + " owner=zoe"},
		"an odd owner": {[]string{odd}, "tenant=tnt_1 type=kty_1 consumer=" + consumer(odd) + " owner=" + odd},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "docker")
			_, before := r.onDisk(t)
			code, key, said := r.addKey(t, c.args...)
			expect(t, code, 0, said, "accept the key of", "within seconds", "Copy the key now")
			_, doc := r.onDisk(t)
			if got := added(t, doc, key); got != c.want {
				t.Errorf("the entry is %q, want %q", got, c.want)
			}
			if had, has := len(before.Plugins[0].Config.Keys), len(doc.Plugins[0].Config.Keys); has != had+1 {
				t.Errorf("%d keys became %d", had, has)
			}
			if loaded := r.config.Load(); loaded == nil || added(t, *loaded, key) != c.want {
				t.Error("the running gateway wasn't given the key")
			}
		})
	}
}

func TestAddKey_expiry(t *testing.T) {
	r := newRig(t, "docker")
	code, key, said := r.addKey(t, "--expires", "90d", "zoe")
	expect(t, code, 0, said)
	_, doc := r.onDisk(t)
	if got := added(t, doc, key); !regexp.MustCompile(`type=kty_1 until=\d{10} consumer=`).MatchString(got) {
		t.Errorf("the entry is %q", got)
	}
}

// A zip without keys has an empty table.
func TestAddKey_first(t *testing.T) {
	in := sampleInput()
	in.Options.Keys = bundle.KeysNone
	r := newRigFor(t, in, "", "docker")
	for i := range 2 {
		code, key, said := r.addKey(t, "zoe")
		expect(t, code, 0, said)
		_, doc := r.onDisk(t)
		added(t, doc, key)
		if n := len(doc.Plugins[0].Config.Keys); n != i+1 {
			t.Errorf("%d keys, want %d", n, i+1)
		}
	}
}

func TestAddKey_withoutGateway(t *testing.T) {
	r := newRig(t, "docker")
	r.env = append(r.env, "KONG_ADMIN_PORT=1")
	code, key, said := r.addKey(t, "zoe")
	expect(t, code, 0, said, "The gateway is not running", "./start.sh")
	_, doc := r.onDisk(t)
	added(t, doc, key)
}

func TestAddKey_refused(t *testing.T) {
	for status, c := range map[int]struct {
		code int
		text string
		kept bool
	}{
		400: {1, "the gateway returned 400, so the key was not added", true},
		413: {0, "larger than 10 MB. Run ./start.sh --stop", false},
	} {
		r := newRig(t, "docker")
		before, _ := r.onDisk(t)
		r.refuses.Store(int64(status))
		code, key, said := r.addKey(t, "zoe")
		expect(t, code, c.code, said, c.text)
		if after, _ := r.onDisk(t); (after == before) != c.kept || (key == "") != c.kept {
			t.Errorf("%d: the file is unchanged: %t, want %t; printed %q", status, after == before, c.kept, key)
		}
		left, err := filepath.Glob(filepath.Join(filepath.Dir(r.folder), "gateway", "gateway.yaml.*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%d: left behind: %v, %v", status, left, err)
		}
	}
}

func TestAddKey_wrong(t *testing.T) {
	r := newRig(t, "docker")
	before, _ := r.onDisk(t)
	for _, c := range []struct {
		code int
		text string
		args []string
	}{
		{2, "pass the owner of the key", nil},
		{2, "pass only one owner", []string{"a", "b"}},
		{2, "must not begin or end with a space", []string{" a"}},
		{2, "ASCII", []string{"zoë"}},
		{2, "ASCII", []string{"a\nb"}},
		{2, "128 characters", []string{strings.Repeat("a", 129)}},
		{2, "unknown option --limits", []string{"--limits", "a"}},
		{2, "--tenant needs a value", []string{"a", "--tenant"}},
		{2, "such as 90d", []string{"--expires", "soon", "a"}},
		{2, "is not a valid name", []string{"--tenant", "a/b", "a"}},
		{1, "there is no tenant a.me. Choose from: acme default", []string{"--tenant", "a.me", "a"}},
		{1, "there is no tenant gone", []string{"--tenant", "gone", "a"}},
		{1, "there is no key type nope. Choose from: full none read-only writer", []string{"--key-type", "nope", "a"}},
		{1, "there is no environment moon", []string{"--environment", "moon", "a"}},
	} {
		code, key, said := r.addKey(t, c.args...)
		if code != c.code || !strings.Contains(said, c.text) || key != "" {
			t.Errorf("%q: exit status %d, want %d; printed %q:\n%s", c.args, code, c.code, key, said)
		}
	}
	if after, _ := r.onDisk(t); after != before {
		t.Error("gateway.yaml has changed")
	}
	text := strings.Replace(before, "      \"keys\": {\n", "\"keys\": {\n", 1)
	if err := os.WriteFile(filepath.Join(r.folder, "gateway.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, said := r.addKey(t, "zoe")
	expect(t, code, 1, said, "no longer has its exported layout")
}

// Without sha256sum, macOS has shasum, and others may have openssl.
func TestAddKey_checksumPrograms(t *testing.T) {
	for _, program := range []string{"shasum", "openssl"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Logf("%s is missing: %v", program, err)
			continue
		}
		r := newRig(t, "docker")
		for _, name := range []string{"sha1sum", "sha256sum"} {
			if err := os.Remove(filepath.Join(r.bin, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(path, filepath.Join(r.bin, program)); err != nil {
			t.Fatal(err)
		}
		code, key, said := r.addKey(t, "zoe")
		expect(t, code, 0, said)
		_, doc := r.onDisk(t)
		want := fmt.Sprintf("tenant=tnt_1 type=kty_1 consumer=%s owner=zoe", policy.ConsumerID(sample.ProjectID, "zoe"))
		if got := added(t, doc, key); got != want {
			t.Errorf("%s: the entry is %q, want %q", program, got, want)
		}
	}
}
