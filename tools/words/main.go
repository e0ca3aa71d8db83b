// Command words finds words in our own text that make a reader stop, and prints a line for each:
// the file, the line, the word and what to write instead. It exits with 1 if it finds any.
//
//	go run ./tools/words
//
// It owns the list of words and the rule for which files are ours, and reads every text file that git tracks. A use
// that must stay is listed with its reason in tools/words/allowed. It leaves spelling to misspell, which golangci-lint
// runs.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// allowedFile lists the uses that stay.
const allowedFile = "tools/words/allowed"

func main() {
	clean, err := check(".", os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
	}
	if !clean || err != nil {
		os.Exit(1)
	}
}

// check writes what is found in the repository in dir to w, and reports whether that is nothing. Its error is that of
// git, of a file that cannot be read, or of a malformed list of allowed uses.
func check(dir string, w io.Writer) (clean bool, err error) {
	list, err := os.ReadFile(filepath.Join(dir, allowedFile))
	if err != nil {
		return false, fmt.Errorf("read the allowed uses: %w", err)
	}
	allowed, err := parseAllowed(string(list))
	if err != nil {
		return false, err
	}
	git := exec.Command("git", "ls-files", "-z")
	git.Dir = dir
	names, err := git.Output()
	if err != nil {
		return false, fmt.Errorf("git ls-files: %w", err)
	}
	out := bufio.NewWriter(w)
	clean = true
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if !isOurs(name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return false, fmt.Errorf("read a tracked file: %w", err)
		}
		for _, hit := range find(text) {
			if !allowed.use(name, hit.word) {
				clean = false
				fmt.Fprintf(out, "%s:%d: %q: %s\n", name, hit.line, hit.word, hit.advice)
			}
		}
	}
	for _, entry := range allowed {
		if !entry.used {
			clean = false
			fmt.Fprintf(out, "%s: %s no longer has %q: take it off the list\n", allowedFile, entry.file, entry.word)
		}
	}
	return clean, out.Flush()
}
