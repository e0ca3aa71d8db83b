// Command testlog reads the output of `go test -json` and prints what a person
// needs of it: a line for each package, all that failing tests wrote, and
// "N passed, N failed" at the end. It exits 1 when anything failed, and a
// skipped test is a failed one: a test that does not run proves nothing.
//
// It owns the verdict over a test run, not the run itself. The events are those
// of `go doc test2json`.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	passed, err := report(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
	}
	if !passed || err != nil {
		os.Exit(1)
	}
}

// report copies a readable form of the events in r to w and reports whether there
// were tests and all of them ran and passed. Its error is that of reading or
// writing.
func report(r io.Reader, w io.Writer) (passed bool, err error) {
	log := newLog(w)
	if err := log.read(r); err != nil {
		return false, err
	}
	return log.finish()
}
