package testkit

import (
	"os"
	"path/filepath"
)

// Directory returns the path of a directory of testkit, which has programs in other languages and
// what they need. It is looked for from the working directory up, which for a test is that of its
// package: the file names in a test binary do not tell, since it is built with -trimpath.
func Directory(name string) string {
	dir, err := os.Getwd()
	for err == nil {
		path := filepath.Join(dir, "testkit", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return filepath.Join("testkit", name) // what uses it names the path in its error
}
