package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/core/openapi/validate"
)

// Each way in which a call makes work grow with the document counts it: the steps end it, whatever the bytes cost.
func TestBudget_readings(t *testing.T) {
	t.Parallel()
	list := "[" + strings.Repeat("0,", 7000) + "0]"
	const stopped = validate.MaxSteps + 1
	for name, tt := range map[string]struct {
		document, form string
		header         string
		least          int // steps
		says           string
	}{
		"JSON in many parameters": {
			document: operation("3.1.0", `"/o":{"put":{"parameters":[`+strings.TrimSuffix(strings.Repeat(
				`{"in":"header","name":"X-A","content":{"application/json":{"schema":{}}}},`, 2000), ",")+`]}}`),
			header: list,
			least:  stopped,
		},
		"many patterns for one name": {
			document: operation("3.1.0", `"/o":{"put":{"requestBody":{"content":{"application/x-www-form-urlencoded":`+
				`{"schema":{"patternProperties":{`+patterns(8000)+`}}}}}}}`),
			form:  arguments(12, "m%d=1&"),
			least: stopped,
		},
		"arguments between semicolons": {
			document: operation("3.1.0", `"/o":{"put":{"requestBody":{"content":{"application/x-www-form-urlencoded":`+
				`{"schema":{"properties":{"a":{"type":"string"}}}}}}}}`),
			form: "a=1" + strings.Repeat(";b", validate.MaxSteps/10),
			says: "must have at most 1000 arguments, including those separated by semicolons",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, ok := compile(t, tt.document).Find("PUT", "/o")
			if !ok {
				t.Fatal("not found")
			}
			work := newWork(t)
			var got string
			if tt.form != "" {
				got = said(m.Body(work, "application/x-www-form-urlencoded", "", []byte(tt.form)))
			} else {
				got = said(m.Head(work, "", 0, func(string) []string { return []string{tt.header} }))
			}
			if work.Steps() < tt.least || !strings.Contains(got, tt.says) {
				t.Errorf("%d steps, want at least %d; %.200q, want %q", work.Steps(), tt.least, got, tt.says)
			}
		})
	}
}

// patterns are members of patternProperties, all of which match every name.
func patterns(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `"|x%d":{"title":"%d"},`, i, i)
	}
	return strings.TrimSuffix(out.String(), ",")
}

func arguments(n int, format string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}
