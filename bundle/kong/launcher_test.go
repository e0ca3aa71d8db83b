package kong

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"postern/testkit/sample"
)

// The conformance suite runs in Docker the gateway that customers get: the same image and settings, except for the
// addresses.
func TestLauncher_docker(t *testing.T) {
	r := newRigFor(t, loginInput(), sample.Keys()["active"].Plaintext)
	call := filepath.Join(r.bin, "call")
	docker := "#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done >'" + call + "'\n"
	if err := os.WriteFile(filepath.Join(r.bin, "docker"), []byte(docker), 0o755); err != nil {
		t.Fatal(err)
	}
	launcher, err := filepath.Abs("../../tools/kong-docker")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", launcher, r.folder, "18000", "18001")
	cmd.Env = []string{"PATH=" + r.bin}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kong-docker: %v\n%s", err, out)
	}
	text, err := os.ReadFile(call)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	got := map[string]string{}
	for i, word := range words {
		if word != "-e" {
			continue
		}
		name, value, _ := strings.Cut(words[i+1], "=")
		if _, twice := got[name]; twice {
			t.Errorf("%s is set twice", name)
		}
		got[name] = value
	}

	var doc struct {
		Services map[string]struct {
			Image       string
			Environment map[string]string
		}
	}
	compose, err := os.ReadFile(filepath.Join(r.folder, "docker-compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(compose, &doc); err != nil {
		t.Fatal(err)
	}
	want := doc.Services["kong"].Environment
	want["KONG_PROXY_LISTEN"] = "127.0.0.1:18000"
	want["KONG_ADMIN_LISTEN"] = "127.0.0.1:18001"
	want["KONG_STATUS_LISTEN"] = "off"
	want["LOGIN_ISSUER"], want["LOGIN_KEYS"] = "", "" // Docker takes them from the suite's environment
	want["KONG_NGINX_WORKER_PROCESSES"] = "1"         // the suite shares its machine
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-shipped +launched):\n%s", diff)
	}
	if image := words[len(words)-1]; image != doc.Services["kong"].Image {
		t.Errorf("image %s, want %s", image, doc.Services["kong"].Image)
	}
}

// Every file of code names its license, wherever the file is copied.
func TestFiles_license(t *testing.T) {
	code := 0
	for name, text := range sampleFiles(t) {
		switch filepath.Ext(name) {
		case ".lua", ".sh":
		default:
			if !strings.HasSuffix(name, "docker-compose.yaml") {
				continue
			}
		}
		code++
		if !strings.Contains(text, "SPDX-License-Identifier: Apache-2.0\n") {
			t.Errorf("%s names no license", name)
		}
	}
	if code != 32 {
		t.Errorf("%d files of code in the zip, want 32", code)
	}
}
