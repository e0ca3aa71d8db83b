package validate

import (
	"cmp"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"

	"postern/core/openapi"
)

// decimal is a number of JSON, 0.digits × 10^exponent. It is exact, so that a number counts as what is written: an
// upstream may read 9007199254740993 as an integer, and 0.015 as money.
type decimal struct {
	negative bool
	digits   string // without zeros at either end; "" for zero
	exponent int64
}

// maxExponent bounds exponents. All numbers beyond it count as equal; every reader treats them as infinite or zero.
const maxExponent = 1 << 50

// readDecimal takes no more time and memory for 1e999999999 than for 1.
func readDecimal(n json.Number) (out decimal) {
	text, negative := strings.CutPrefix(n.String(), "-")
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		power, _ := strconv.ParseInt(text[at+1:], 10, 64) // out of range it is the last one
		out.exponent = min(max(power, -maxExponent), maxExponent)
		text = text[:at]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	whole = strings.TrimLeft(whole, "0")
	out.exponent += int64(len(whole))
	out.digits = whole + strings.TrimRight(fraction, "0")
	if whole == "" {
		all := len(out.digits)
		out.digits = strings.TrimLeft(out.digits, "0")
		out.exponent -= int64(all - len(out.digits))
	}
	if out.digits = strings.TrimRight(out.digits, "0"); out.digits == "" {
		return decimal{}
	}
	out.negative = negative
	return out
}

// isWhole reports whether a number is an integer, such as 1, 1.0 and 1e2.
func (d decimal) isWhole() bool { return d.power() >= 0 }

// power returns the power of ten that the digits, taken for an integer, are multiplied by.
func (d decimal) power() int64 { return d.exponent - int64(len(d.digits)) }

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d decimal) compare(to decimal) int {
	if d.sign() != to.sign() {
		return cmp.Compare(d.sign(), to.sign())
	}
	return d.sign() * cmp.Or(cmp.Compare(d.exponent, to.exponent), strings.Compare(d.digits, to.digits))
}

// maxDivisor bounds the digits of multipleOf, so that the remainder fits into 64 bits.
const maxDivisor = 18

// isMultiple reports whether a number is a multiple of one with at most maxDivisor digits that is not zero.
func (d decimal) isMultiple(of decimal) bool {
	power := d.power() - of.power() // below 0 the digits would have to end in zeros
	if d.digits == "" || power < 0 {
		return d.digits == ""
	}
	divisor, _ := strconv.ParseUint(of.digits, 10, 64)
	rest, ten := uint64(0), 10%divisor
	for i := range len(d.digits) {
		rest = (rest*10 + uint64(d.digits[i]-'0')) % divisor
	}
	for ; power > 0; power >>= 1 {
		if power&1 == 1 {
			rest = timesModulo(rest, ten, divisor)
		}
		ten = timesModulo(ten, ten, divisor)
	}
	return rest == 0
}

// stepsOfMultiple are those of isMultiple with the largest exponents.
const stepsOfMultiple = 15

func timesModulo(a, b, divisor uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return bits.Rem64(high, low, divisor)
}

// appendTo appends a number of JSON that is the same for equal numbers, such as 1, 1.0 and 1e0, and for no others.
func (d decimal) appendTo(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.digits...), 'e')
	return strconv.AppendInt(dst, d.power(), 10)
}

// bound is a number of a document.
type bound struct {
	decimal

	text string // for who is refused
}

// maxBoundText is how many bytes of a bound a refusal has.
const maxBoundText = 50

// bound returns the number of a keyword; nil for none.
func (c *compiler) bound(of any) *bound {
	n, ok := of.(json.Number)
	if !ok || !c.Spend(len(n)/bytesOfStep) || !c.Take(openapi.Memory, int64(len(n))) {
		return nil
	}
	return &bound{readDecimal(n), cut(n.String(), maxBoundText)}
}

var (
	least32, most32 = readDecimal("-2147483648"), readDecimal("2147483647")
	least64, most64 = readDecimal("-9223372036854775808"), readDecimal("9223372036854775807")
)

func (r *run) number(s *schema, n json.Number) bool {
	if !s.numeric {
		return true
	}
	d, ok := readDecimal(n), true
	fail := func(format string, args ...any) { ok = r.problem(format, args...) }
	if s.minimum != nil && d.compare(s.minimum.decimal) < 0 {
		fail("must be at least %s", s.minimum.text)
	}
	if s.above != nil && d.compare(s.above.decimal) <= 0 {
		fail("must be more than %s", s.above.text)
	}
	if s.maximum != nil && d.compare(s.maximum.decimal) > 0 {
		fail("must be at most %s", s.maximum.text)
	}
	if s.below != nil && d.compare(s.below.decimal) >= 0 {
		fail("must be less than %s", s.below.text)
	}
	if s.multipleOf != nil && r.spend(stepsOfMultiple) && !d.isMultiple(s.multipleOf.decimal) {
		fail("must be a multiple of %s", s.multipleOf.text)
	}
	switch {
	case s.format == "int32" && (d.compare(least32) < 0 || d.compare(most32) > 0):
		fail("must fit in 32 bits")
	case s.format == "int64" && (d.compare(least64) < 0 || d.compare(most64) > 0):
		fail("must fit in 64 bits")
	}
	return ok
}
