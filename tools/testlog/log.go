package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is one line of `go test -json`; see `go doc test2json` and, for the
// build events, `go help buildjson`.
type event struct {
	Action     string
	Package    string
	Test       string // "" in events about the whole package
	Elapsed    float64
	Output     string
	ImportPath string // of build events
}

// log gathers what each test wrote until it is known whether that matters.
type log struct {
	w       io.Writer
	err     error // the first one of writing
	written map[test]*strings.Builder
	failing map[string]bool // packages with a failure that was counted
	cases   map[string]bool // "package test" of each test and subtest that ended
	passed  int
	failed  int
}

type test struct{ pkg, name string }

func newLog(w io.Writer) *log {
	return &log{w: w, written: map[test]*strings.Builder{}, failing: map[string]bool{}, cases: map[string]bool{}}
}

func (l *log) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			l.line(line)
		}
		if err == io.EOF {
			return l.err
		}
		if err != nil {
			return fmt.Errorf("read test events: %w", err)
		}
	}
}

// line takes one line. Lines that aren't events come from go itself, such as about a broken go.mod, and are shown
// unchanged.
func (l *log) line(line string) {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		l.print("%s", line)
		return
	}
	id := test{e.Package, e.Test}
	if e.Test != "" && (e.Action == "pass" || e.Action == "fail") {
		l.cases[e.Package+" "+e.Test] = true
	}
	switch e.Action {
	case "output":
		l.keep(id, e.Output)
	case "build-output":
		l.print("%s", e.Output)
	case "pass":
		if e.Test != "" {
			l.passed++
		} else {
			l.print("ok    %s  %.1f s\n", e.Package, e.Elapsed)
		}
		delete(l.written, id)
	case "fail":
		l.fail(id, e)
	case "skip":
		l.skip(id)
	}
}

func (l *log) keep(id test, output string) {
	b := l.written[id]
	if b == nil {
		b = &strings.Builder{}
		l.written[id] = b
	}
	b.WriteString(output)
}

// fail counts a failed test once. A package that fails without a failed test,
// because it did not build or exited early, counts as one.
func (l *log) fail(id test, e event) {
	l.flush(id)
	if id.name != "" {
		l.failed++
		l.failing[id.pkg] = true
		return
	}
	l.flushPackage(id.pkg)
	if !l.failing[id.pkg] {
		l.failed++
	}
	l.print("FAIL  %s  %.1f s\n", e.Package, e.Elapsed)
}

// skip is a failure of a test; of a package it means that there is no test in
// it, which go test reports the same way.
func (l *log) skip(id test) {
	if id.name == "" {
		delete(l.written, id)
		return
	}
	l.flush(id)
	l.print("FAIL  %s %s was skipped: what a test needs is installed, never done without\n", id.pkg, id.name)
	l.failed++
	l.failing[id.pkg] = true
}

func (l *log) flush(id test) {
	if b := l.written[id]; b != nil {
		l.print("%s", b.String())
	}
	delete(l.written, id)
}

// flushPackage shows what the tests wrote that were running when their package
// ended: a panic or a time limit ends it without a verdict over them.
func (l *log) flushPackage(pkg string) {
	for id := range l.written {
		if id.pkg == pkg {
			l.flush(id)
		}
	}
}

func (l *log) print(format string, args ...any) {
	if _, err := fmt.Fprintf(l.w, format, args...); err != nil && l.err == nil {
		l.err = fmt.Errorf("write the report: %w", err)
	}
}

// finish prints the closing line. A run without any test is not a success: it broke
// before it began.
func (l *log) finish() (bool, error) {
	l.print("\n%d passed, %d failed\n", l.passed, l.failed)
	return l.failed == 0 && l.passed > 0, l.err
}
