package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// AllowSource adds a source to one directive of the Content-Security-Policy in h.
// directive is the directive as SecureHeaders wrote it, with its sources.
func AllowSource(h http.Header, directive, source string) {
	ReplaceSource(h, directive, directive+" "+source)
}

// ReplaceSource replaces one directive of the Content-Security-Policy in h.
func ReplaceSource(h http.Header, directive, with string) {
	const name = "Content-Security-Policy"
	h.Set(name, strings.Replace(h.Get(name), directive, with, 1))
}

// WriteBrandCSS answers with a style sheet that sets the brand's color and the color of
// text on it. color must have been validated as #rrggbb.
func WriteBrandCSS(w http.ResponseWriter, color string) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "private, max-age=60")
	w.WriteHeader(http.StatusOK)
	// An error means that the caller is gone.
	_, _ = fmt.Fprintf(w, ":root{--brand:%s;--brand-ink:%s}\n", color, textColorOn(color))
}

// textColorOn returns black or white, whichever has the higher contrast on color. The
// contrasts of WCAG 2.2 are equal at a relative luminance of 0.179.
func textColorOn(color string) string {
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		channel, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return "#ffffff"
		}
		luminance += weight * linear(float64(channel)/255)
	}
	if luminance > 0.179 {
		return "#000000"
	}
	return "#ffffff"
}

// linear removes the gamma of sRGB from a channel's value (IEC 61966-2-1).
func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
