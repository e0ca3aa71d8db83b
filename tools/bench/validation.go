package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// measureValidation prints how long the validation of a call takes at most: of some that take nearly all the steps
// that a call has, and of some that take more.
func measureValidation(ctx context.Context) error {
	progress("validating bodies of 950 KB")
	numbers := "[" + strings.Repeat("1,", 475_000) + "1]"
	text := `"` + strings.Repeat("x", 950_000) + `"`
	for _, one := range []struct{ name, schema, body string }{
		{"allOf of 100 schemas, a text", `{"allOf":[` + strings.Repeat(`{"maxLength":1000000},`, 100) + `{}]}`, text},
		{"a pattern, a text", `{"pattern":"^(x|y)*$"}`, text},
		{"a list of numbers", `{"items":{"type":"integer","minimum":1}}`, numbers},
		{"a list of numbers, each unlike the others", `{"uniqueItems":true}`, numbers},
	} {
		document := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/o":{"put":{"requestBody":` +
			`{"content":{"application/json":{"schema":` + one.schema + `}}}}}}}`
		compiled, err := validate.CompileJSON(openapi.NewBudget(ctx, openapi.Size), []byte(document))
		if err != nil {
			return err
		}
		match, _ := compiled.Find("PUT", "/o")
		var took []float64
		var steps int
		for range 5 {
			work := validate.NewWork(ctx)
			began := time.Now()
			match.Body(work, "application/json", "", []byte(one.body))
			took, steps = append(took, time.Since(began).Seconds()*1000), work.Steps()
		}
		fmt.Printf("%-44s %8.1f ms %10d steps of %d\n", "validate 950 KB: "+one.name,
			median(took, func(ms float64) float64 { return ms }), steps, validate.MaxSteps)
	}
	return nil
}
