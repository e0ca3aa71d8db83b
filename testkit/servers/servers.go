// Package servers starts the servers that Postern calls, for tests. Each ends with its test.
//
// These are real programs in processes: Keycloak, OpenFGA, Pebble (ACME, RFC 8555), PgBouncer, Redis, and Versity S3
// Gateway. tools/setup installs them, in the versions of the file pinned. A test without one of them fails. These run
// in the test itself: a name server, a mail server, and a collector of OpenTelemetry.
//
// It owns the servers' processes, ports and files, and what the servers received. It leaves PostgreSQL to
// tools/withpostgres and testkit, and upstreams to testkit and testkit/scripted.
package servers

import (
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

//go:embed pinned
var pinned string

// version returns the version of a server that is pinned by a name.
func version(name string) string {
	found := regexp.MustCompile(`(?m)^` + name + `=(\S+)$`).FindStringSubmatch(pinned)
	if found == nil {
		panic("testkit/servers/pinned has no " + name)
	}
	return found[1]
}

// installed returns the path of something that tools/setup installs in the user's cache directory.
func installed(t testing.TB, path ...string) string {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	full := filepath.Join(append([]string{cache, "postern"}, path...)...)
	if _, err := os.Stat(full); err != nil {
		t.Fatalf("this test needs a program: %v (run tools/setup)", err)
	}
	return full
}

// program returns the path of a server that is written in Go.
func program(t testing.TB, name string) string {
	t.Helper()
	return installed(t, name+"-"+version(name), name)
}
