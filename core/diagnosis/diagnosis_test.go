package diagnosis_test

import (
	"strings"
	"testing"

	"postern/core/diagnosis"
)

func TestReportOutcome(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []diagnosis.Outcome
		want  diagnosis.Outcome
	}{
		"no steps":                {nil, diagnosis.Pass},
		"all skipped":             {[]diagnosis.Outcome{diagnosis.Skip}, diagnosis.Pass},
		"a warning after a pass":  {[]diagnosis.Outcome{diagnosis.Pass, diagnosis.Warn}, diagnosis.Warn},
		"a failure and a warning": {[]diagnosis.Outcome{diagnosis.Fail, diagnosis.Warn}, diagnosis.Fail},
		"a warning and a failure": {[]diagnosis.Outcome{diagnosis.Warn, diagnosis.Fail}, diagnosis.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			var r diagnosis.Report
			for _, o := range tt.steps {
				r.Steps = append(r.Steps, diagnosis.Step{Outcome: o})
			}
			if got := r.Outcome(); got != tt.want {
				t.Errorf("Outcome() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	if got := diagnosis.Quote("a\nb"); got != `"a\nb"` {
		t.Errorf("Quote of two lines = %s", got)
	}
	if got := diagnosis.Quote(strings.Repeat("ä", 1000)); len(got) > 210 || strings.Contains(got, `\x`) {
		t.Errorf("Quote of a long text = %s", got)
	}
}
