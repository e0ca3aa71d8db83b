package validate

import (
	"encoding/json"
	"strings"

	"postern/core/openapi"
)

// maxEnumTexts bounds the values that a refusal lists, and maxEnumText all of them, in bytes.
const (
	maxEnumTexts = 20
	maxEnumText  = 500
)

// values compiles enum and const.
func (c *compiler) values(out *schema, s map[string]any) {
	list, listed := s["enum"].([]any)
	one, fixed := s["const"]
	switch {
	case fixed && listed:
		list = c.equal(list, one)
	case fixed:
		list = []any{one}
	case !listed:
		return
	}
	if !c.Take(openapi.Memory, int64(perValue*len(list))) {
		return
	}
	out.enum = make(map[string]bool, len(list))
	var texts []string
	for _, value := range c.Each(list) {
		if !c.canonical(value) || !c.Take(openapi.Memory, int64(len(c.scratch))) {
			return
		}
		out.enum[string(c.scratch)] = true
		out.composite = out.composite || kindOf(value)&(kindArray|kindObject) != 0
		if len(texts) > maxEnumTexts {
			continue
		}
		c.Spend(len(c.scratch) / bytesOfStep)
		if said, err := json.Marshal(value); err == nil {
			texts = append(texts, string(said))
		}
	}
	if len(texts) <= maxEnumTexts {
		out.enumTexts = strings.Join(texts, ", ")
	}
	if len(out.enumTexts) > maxEnumText {
		out.enumTexts = ""
	}
}

// equal returns the items of a list that are equal to a value.
func (c *compiler) equal(list []any, to any) (out []any) {
	c.canonical(to)
	want := string(c.scratch)
	for _, one := range c.Each(list) {
		if c.canonical(one) && string(c.scratch) == want {
			out = append(out, one)
		}
	}
	return out
}

// stepsOfEqual are those of a part of a value that is compared by its canonical text.
const stepsOfEqual = 4

// canonical writes the canonical text of a value to scratch. It returns false if the budget doesn't have what that
// takes.
func (c *compiler) canonical(value any) bool {
	size := sizeOf(value)
	if !c.Spend(stepsOfEqual*size) || !c.Fits(openapi.Memory, bytesOfStep*int64(size)) {
		return false
	}
	c.scratch = appendCanonical(c.scratch[:0], value)
	return true
}
