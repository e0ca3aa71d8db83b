package shipped_test

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postern/tools/shipped"
)

// write writes the files of a checkout, by name.
func write(t *testing.T, files map[string]string) (checkout string) {
	t.Helper()
	checkout = t.TempDir()
	for name, text := range files {
		name = filepath.Join(checkout, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return checkout
}

func TestBuild_script(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=mod")
	checkout := write(t, map[string]string{
		"tools/build": "#!/bin/sh\necho \"$PWD $CGO_ENABLED $GOFLAGS\" >\"$1\"\n",
	})
	file := filepath.Join(t.TempDir(), "postern")
	if err := shipped.Build(t.Context(), checkout, file, "-overlay=x"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := checkout + " 0 -mod=mod -overlay=x\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestBuild_withoutScript(t *testing.T) {
	checkout := write(t, map[string]string{
		"go.mod":              "module postern\n",
		"cmd/postern/main.go": "package main\n\nfunc main() {}\n",
	})
	file := filepath.Join(t.TempDir(), "postern")
	if err := shipped.Build(t.Context(), checkout, file); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["-trimpath"] != "true" || settings["CGO_ENABLED"] != "0" {
		t.Errorf("built with %v", settings)
	}
}

func TestBuild_failed(t *testing.T) {
	checkout := write(t, map[string]string{"tools/build": "#!/bin/sh\necho broken\nexit 1\n"})
	err := shipped.Build(t.Context(), checkout, filepath.Join(t.TempDir(), "postern"))
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v", err)
	}
}

// TestFlags_inlined checks that code which each call runs through is inlined, and pages are not. The last pattern that
// matches a package counts (go help build).
func TestFlags_inlined(t *testing.T) {
	out, err := exec.Command("../build", "--flags").Output()
	if err != nil {
		t.Fatal(err)
	}
	flags := func(name string) (of string) {
		for field := range strings.FieldsSeq(string(out)) {
			pattern, value, ok := strings.Cut(strings.TrimPrefix(field, "-gcflags="), "/...=")
			if ok && (name == pattern || strings.HasPrefix(name, pattern+"/")) {
				of = value
			}
		}
		return of
	}
	for name, want := range map[string]string{
		"core/policy":           "",
		"gateway":               "",
		"gateway/engine":        "",
		"app":                   "", // connects the gateway with the services
		"app/tracing":           "",
		"service/introspection": "",
		"service/keys":          "",
		"service/login":         "",
		"service/ratelimit":     "",
		"service/relations":     "",
		"service/serving":       "",
		"service/usage":         "",
		"service/exports":       "-l",
		"handlers/pages":        "-l",
		"views/projects":        "-l",
	} {
		if got := flags("postern/" + name); got != want {
			t.Errorf("%s is compiled with %q, want %q", name, got, want)
		}
	}
}
