package validate

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// isWhole reports whether a number is an integer, such as 1, 1.0 and 1e2.
func isWhole(n json.Number) bool {
	if !strings.ContainsAny(n.String(), ".eE") {
		return true
	}
	f, _ := strconv.ParseFloat(n.String(), 64)
	return f == math.Trunc(f) && !math.IsInf(f, 0)
}

func (r *run) number(s *schema, n json.Number) bool {
	f, _ := strconv.ParseFloat(n.String(), 64) // out of range it is infinite
	ok := true
	fail := func(format string, args ...any) { ok = r.problem(format, args...) }
	if s.minimum != nil && f < *s.minimum {
		fail("must be at least %v", *s.minimum)
	}
	if s.above != nil && f <= *s.above {
		fail("must be more than %v", *s.above)
	}
	if s.maximum != nil && f > *s.maximum {
		fail("must be at most %v", *s.maximum)
	}
	if s.below != nil && f >= *s.below {
		fail("must be less than %v", *s.below)
	}
	if s.multipleOf > 0 {
		quotient := f / s.multipleOf
		if math.IsInf(quotient, 0) || math.Abs(quotient-math.Round(quotient)) > 1e-9*math.Max(1, math.Abs(quotient)) {
			fail("must be a multiple of %v", s.multipleOf)
		}
	}
	switch {
	case s.format == "int32" && (f < math.MinInt32 || f > math.MaxInt32):
		fail("must fit into 32 bits")
	case s.format == "int64" && (f < math.MinInt64 || f >= math.MaxInt64) && !isInt64(n):
		fail("must fit into 64 bits")
	}
	return ok
}

func isInt64(n json.Number) bool {
	_, err := strconv.ParseInt(n.String(), 10, 64)
	return err == nil
}
