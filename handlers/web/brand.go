package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// AllowSource adds a source to one directive of a page's Content-Security-Policy.
func AllowSource(h http.Header, directive, source string) {
	h.Set(
		"Content-Security-Policy",
		strings.Replace(h.Get("Content-Security-Policy"), directive, directive+" "+source, 1),
	)
}

// WriteBrandCSS answers with a colour that was checked, and the ink to read on it.
func WriteBrandCSS(w http.ResponseWriter, color string) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "private, max-age=60")
	w.WriteHeader(http.StatusOK)
	_, _ = fmt.Fprintf(
		w, ":root{--brand:%s;--brand-ink:%s}\n", color, inkOn(color),
	) // the caller is gone when this fails
}

// inkOn is black or white, whichever can be read better on a colour: the contrast
// of WCAG 2.2 is equal where the luminance is 0.179.
func inkOn(color string) string {
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		part, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return "#ffffff"
		}
		luminance += weight * linear(float64(part)/255)
	}
	if luminance > 0.179 {
		return "#000000"
	}
	return "#ffffff"
}

// linear takes the gamma of sRGB away (IEC 61966-2-1).
func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
