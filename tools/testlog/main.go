// Command testlog reads the output of `go test -json` and prints a summary of it: a
// line for each package, the whole output of failing tests, and "N passed, N failed" at
// the end. It exits with 1 if anything failed. A skipped test counts as failed, because
// a test that doesn't run proves nothing.
//
//	go test -json ./... | testlog -cases cases.txt
//
// With -cases, it also writes the sorted list of all tests and subtests that ran, one
// "package test" per line. Compare two such lists to see which cases a change adds and removes:
// comm -3 before.txt after.txt.
//
// It owns the verdict on a test run, but not the run itself. The events are described in
// `go doc test2json`.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	cases := flag.String("cases", "", "write the list of all cases to this `file`")
	flag.Parse()
	passed, err := report(os.Stdin, os.Stdout, *cases)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
	}
	if !passed || err != nil {
		os.Exit(1)
	}
}

// report copies a readable form of the events in r to w and reports whether there
// were tests and all of them ran and passed. It writes the list of cases to the file
// cases, unless that is empty. Its error is that of reading or writing.
func report(r io.Reader, w io.Writer, cases string) (passed bool, err error) {
	log := newLog(w)
	if err := log.read(r); err != nil {
		return false, err
	}
	if cases != "" {
		list := strings.Join(slices.Sorted(maps.Keys(log.cases)), "\n") + "\n"
		if err := os.WriteFile(cases, []byte(list), 0o600); err != nil {
			return false, fmt.Errorf("write the list of cases: %w", err)
		}
	}
	return log.finish()
}
