package diagnosis_test

import (
	"strings"
	"testing"

	"postern/core/diagnosis"
)

func TestReport_outcome(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []diagnosis.Outcome
		want  diagnosis.Outcome
	}{
		"all skipped":             {[]diagnosis.Outcome{diagnosis.Skip}, diagnosis.Pass},
		"a warning after a pass":  {[]diagnosis.Outcome{diagnosis.Pass, diagnosis.Warn}, diagnosis.Warn},
		"a failure and a warning": {[]diagnosis.Outcome{diagnosis.Fail, diagnosis.Warn}, diagnosis.Fail},
		"a warning and a failure": {[]diagnosis.Outcome{diagnosis.Warn, diagnosis.Fail}, diagnosis.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			var r diagnosis.Report
			add := map[diagnosis.Outcome]func(step, detail string, args ...any){
				diagnosis.Skip: r.Skip, diagnosis.Pass: r.Pass, diagnosis.Warn: r.Warn, diagnosis.Fail: r.Fail,
			}
			for _, o := range tt.steps {
				add[o]("connect", "Tried %d time.", 1)
			}
			if r.Outcome != tt.want || len(r.Steps) != len(tt.steps) || r.Steps[0].Detail != "Tried 1 time." {
				t.Errorf("%+v, want %s", r, tt.want)
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
