// Package reports compares the reports of diagnosis with what a test expects of them.
//
// It owns the comparison. The steps and their texts are core/diagnosis's and of those who report.
package reports

import (
	"strings"
	"testing"

	"postern/core/diagnosis"
)

// Step returns the step of a report, and fails the test without it.
func Step(t testing.TB, r diagnosis.Report, name string) diagnosis.Step {
	t.Helper()
	for _, s := range r.Steps {
		if s.Step == name {
			return s
		}
	}
	t.Fatalf("there is no step %s in %+v", name, r.Steps)
	return diagnosis.Step{}
}

// WantStep fails the test unless the step has the outcome, and a detail that contains text.
func WantStep(t testing.TB, r diagnosis.Report, name string, outcome diagnosis.Outcome, text string) {
	t.Helper()
	if got := Step(t, r, name); got.Outcome != outcome || !strings.Contains(got.Detail, text) {
		t.Errorf("%s: %s %q, want %s with %q", name, got.Outcome, got.Detail, outcome, text)
	}
}
