package page_test

import (
	"math"
	"testing"

	"postern/handlers/page"
)

func TestWholeNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "7": 7, "1000": 1000, "1,000": 1000, "12,345,678": 12345678, "-1": -1, "+5": 5, "007": 7,
		"9,007,199,254,740,991": 9007199254740991, "99999999999999999999": math.MaxInt64,
	} {
		if got, ok := page.WholeNumber(" " + text + " "); !ok || got != want {
			t.Errorf("%q is %d, %t, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", " ", "abc", "1,000x", "1,00", "1000,000", ",000", "1,,000", "1,0000", "1.5", "1e3", "0x10", "1 000",
		"1_000", "--1", "+", "NaN",
	} {
		if got, ok := page.WholeNumber(text); ok {
			t.Errorf("%q is %d, want no number", text, got)
		}
	}
}

func TestDecimalNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"0": 0, "1440": 1440, "1,440": 1440, "1,440.5": 1440.5, "0.5": 0.5, ".5": 0.5, "-1": -1,
	} {
		if got, ok := page.DecimalNumber(" " + text + " "); !ok || got != want {
			t.Errorf("%q is %v, %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "abc", "14,40", "1.", "0,5", "1e3", "NaN", "Inf", "0x1p-2", "1.5.2", "+", "-"} {
		if got, ok := page.DecimalNumber(text); ok {
			t.Errorf("%q is %v, want no number", text, got)
		}
	}
}
