package validate

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"

	"postern/core/openapi"
)

// documentOfPatterns is a document whose request body has members with these patterns.
func documentOfPatterns(expressions ...string) []byte {
	var members []string
	for i, expression := range expressions {
		members = append(members, fmt.Sprintf(`"m%d":{"pattern":%q}`, i, expression))
	}
	return []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/o":{"put":{"requestBody":{` +
		`"content":{"application/json":{"schema":{"properties":{` + strings.Join(members, ",") + `}}}}}}}}}`)
}

// Patterns are counted with their repeats written out, before they are compiled.
func TestCompile_patterns(t *testing.T) {
	t.Parallel()
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("%d(?:[a-z]{1,99}){1,10}", i))
		}
		return out
	}
	const (
		each = "the pattern has more than 10,000 parts"
		all  = "the patterns of the document have more than 200,000 parts"
	)
	for name, tt := range map[string]struct {
		patterns []string
		want     string // "": accepted
	}{
		"plain":                {[]string{"^[a-z]{1,63}$"}, ""},
		"large repeat":         {[]string{`\\pL{1,1000}`}, ""},
		"many parts repeated":  {[]string{"(" + strings.Repeat("a.", 900) + "){1000}"}, each},
		"repeats in repeats":   {[]string{"(((a.b.c.d.){10}){10}){10}"}, each},
		"repeats one by one":   {[]string{strings.Repeat("a{1000}", 20)}, each},
		"repeats of nothing":   {[]string{strings.Repeat("(?:){1000}", 20)}, each},
		"optional parts":       {[]string{"(?:a?b?c?d?e?f?){0,1000}"}, each},
		"without an end":       {[]string{"(?:abcdefghijkl){1000,}"}, each},
		"large class":          {[]string{strings.Repeat("(?:\\pL|\\PL)x", 12) + strings.Repeat("a", 9000)[:1800]}, ""},
		"too large for Go":     {[]string{"(a{100}){100}"}, ""},
		"just enough":          {many(90), ""},
		"many":                 {many(120), all},
		"the same again":       {append(many(90), many(90)...), ""},
		"in pattern and place": {[]string{"(" + strings.Repeat("a.", 900) + "){1000}"}, `PUT /o, pattern "(a.a.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := CompileJSON(openapi.NewBudget(t.Context(), openapi.Size), documentOfPatterns(tt.patterns...))
			refused, ok := errors.AsType[*openapi.Error](err)
			if tt.want == "" && err != nil || tt.want != "" && (!ok || !strings.Contains(refused.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// A pattern that is compiled has no more instructions than it has parts, give or take those that every program has.
func FuzzParts(f *testing.F) {
	for _, seed := range []string{
		"a", "(a|b)*c", "((a{0,30}b?){1,30}c)", `\pL{1,1000}`, "(?i)[^a-z]{3,}", "(?:){1000}", "(a?){2,5}|(b+?){7}",
		"^$", "$*", "(a{1,10}){1,10}", "x{0}", "(?:ab|ac|ad)+", "(?s).{10}", `\bA\B`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if len(expression) > maxPattern {
			return
		}
		parsed, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			return
		}
		size := parts(parsed)
		if size > openapi.PatternParts.Most {
			return // is not compiled
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if instructions := int64(len(program.Inst)); instructions > size+2 {
			t.Errorf("%q has %d instructions, counted as %d parts", expression, instructions, size)
		}
	})
}
