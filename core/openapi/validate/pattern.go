package validate

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"postern/core/openapi"
)

// pattern is a regular expression, with the number of its parts: about the instructions of its program.
type pattern struct {
	expression *regexp.Regexp
	size       int
}

// cost is how many steps it takes to match a text. Also the empty text takes all parts that may begin a match.
func (p *pattern) cost(text string) int { return 1 + (len(text)+1)*p.size/patternCost }

// maxPattern bounds a pattern, in bytes. Longer values are not checked.
const maxPattern = 2000

// Steps of a pattern. A class of Unicode takes up to 400 µs to read, if several are merged.
const (
	stepsOfClass = 4000
	stepsOfPart  = 10
	stepsOfByte  = 2
)

var unicodeEscape = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// pattern compiles a regular expression of ECMA-262 as one of Go's; nil if that is not possible, as
// with look-arounds and back references, or if it takes more than the budget has.
func (c *compiler) pattern(expression string) *pattern {
	c.Spend(len(expression) / bytesOfStep)
	made, known := c.patterns[expression]
	if !known {
		made = c.compilePattern(expression)
		c.patterns[expression] = made
	}
	if made == nil {
		c.note("The pattern %.60q isn't checked, because it is too large or uses something that RE2 doesn't support, "+
			"such as a look-ahead.", expression)
	}
	return made
}

func (c *compiler) compilePattern(expression string) *pattern {
	classes := strings.Count(expression, `\p`) + strings.Count(expression, `\P`)
	if len(expression) > maxPattern || !c.Spend(stepsOfByte*len(expression)+stepsOfClass*classes) {
		return nil
	}
	expression = unicodeEscape.ReplaceAllString(expression, `\x{$1}`)
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	size := parts(parsed)
	at := c.At
	c.At += fmt.Sprintf(", pattern %.60q", expression)
	fits := c.Fits(openapi.PatternParts, size) && c.Take(openapi.AllPatternParts, size)
	if c.At = at; !fits || !c.Spend(int(stepsOfPart*size)) || !c.Take(openapi.Memory, perPart*size) {
		return nil
	}
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return nil
	}
	return &pattern{compiled, int(size)}
}

// perPart is about how many bytes an instruction takes.
const perPart = 45

// rangesOfPart is how many bounds of the ranges of a class take as much memory as an instruction. A repeat does not
// copy them.
const rangesOfPart = 10

// parts counts the instructions of a pattern, its repeats written out, without writing them out. The package syntax
// refuses repeats of more than 1,000, also within each other, so that the product cannot overflow.
func parts(of *syntax.Regexp) int64 {
	repeated, ranges := partsOf(of)
	return repeated + ranges
}

func partsOf(of *syntax.Regexp) (repeated, ranges int64) {
	for _, sub := range of.Sub {
		r, c := partsOf(sub)
		repeated, ranges = repeated+r, ranges+c
	}
	switch of.Op {
	case syntax.OpLiteral:
		return int64(len(of.Rune)), 0
	case syntax.OpCharClass:
		return 1, int64(len(of.Rune) / rangesOfPart)
	case syntax.OpAlternate:
		return repeated + int64(len(of.Sub)), ranges
	case syntax.OpCapture, syntax.OpStar: // a star of what may be empty is (?:x+)?
		return repeated + 2, ranges
	case syntax.OpRepeat:
		if of.Max < 0 {
			return 1 + (repeated+1)*int64(of.Min+1), ranges
		}
		return 1 + (repeated+1)*int64(of.Max), ranges
	}
	return repeated + 1, ranges
}
