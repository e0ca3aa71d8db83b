package static

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	Handler().ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
	return answer
}

func TestHandler_immutable(t *testing.T) {
	for name, contentType := range map[string]string{
		"app.css":            "text/css",
		"app.js":             "text/javascript",
		"code.js":            "text/javascript",
		"forms.js":           "text/javascript",
		"lists.js":           "text/javascript",
		"uploads.js":         "text/javascript",
		"htmx.js":            "text/javascript",
		"icon.svg":           "image/svg+xml",
		"htmx.LICENSE.txt":   "text/plain",
		"lucide.LICENSE.txt": "text/plain",
		"geist.LICENSE.txt":  "text/plain",
		"geist.woff2":        "font/woff2",
	} {
		path := Path(name)
		answer := get(t, path)
		if answer.Code != 200 || answer.Body.Len() == 0 {
			t.Errorf("%s: status %d with %d bytes", path, answer.Code, answer.Body.Len())
		}
		if got := answer.Header().Get("Content-Type"); !strings.HasPrefix(got, contentType) {
			t.Errorf("%s: content type %q, want %s", path, got, contentType)
		}
		if got := answer.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s: cache control %q, want immutable", path, got)
		}
	}
}

func TestStyleSheet_font(t *testing.T) {
	if !strings.Contains(get(t, Path("app.css")).Body.String(), strings.TrimPrefix(Path("geist.woff2"), Prefix)) {
		t.Error("the style sheet does not name the font by its immutable address")
	}
}

func TestHandler_otherBuild(t *testing.T) {
	answer := get(t, "/static/app.0123456789ab.css")
	if answer.Code != 200 {
		t.Fatalf("status %d, want 200", answer.Code)
	}
	if got := answer.Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("cache control %q, want no-cache", got)
	}
}

func TestHandler_unknownFile(t *testing.T) {
	for _, path := range []string{
		"/static/",
		"/static/none.css",
		"/static/../static.go",
		"/static/css/app.css",
		"/static/app.css/x",
	} {
		if answer := get(t, path); answer.Code != 404 {
			t.Errorf("%s: status %d, want 404", path, answer.Code)
		}
	}
}

func TestPath_unknownFile(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Path("none.css")
}

// TestContrast holds the colors that meet on a page to WCAG 2.2, 1.4.3 (text,
// 4.5 to 1) and 1.4.11 (borders of controls, 3 to 1), light and dark.
func TestContrast(t *testing.T) {
	source, err := os.ReadFile("src/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string][2]string{}
	token := regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`)
	for _, m := range token.FindAllStringSubmatch(string(source), -1) {
		tokens[m[1]] = [2]string{m[2], m[3]}
	}
	check := func(front, back string, least float64) {
		f, b := tokens[front], tokens[back]
		if f[0] == "" || b[0] == "" {
			t.Errorf("no token %s or %s", front, back)
			return
		}
		for i, scheme := range []string{"light", "dark"} {
			if got := contrast(f[i], b[i]); got < least {
				t.Errorf("%s: %s on %s is %.2f to 1, want %.1f", scheme, front, back, got, least)
			}
		}
	}
	for _, back := range []string{"canvas", "surface", "sunken"} {
		for _, front := range []string{"ink", "muted", "faint", "accent", "good", "warn", "bad", "cold"} {
			check(front, back, 4.5)
		}
	}
	for _, tone := range []string{"accent", "good", "warn", "bad", "cold"} {
		check(tone, tone+"-soft", 4.5)
	}
	check("ink", "accent-soft", 4.5)
	check("muted", "accent-soft", 4.5)
	check("button-ink", "button", 4.5)
	check("button-ink", "button-hover", 4.5)
	check("danger-ink", "danger", 4.5)
	check("danger-ink", "danger-hover", 4.5)
	check("edge", "surface", 3)
	check("edge", "canvas", 3)
}

func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is WCAG's relative luminance of #rrggbb.
func luminance(hex string) float64 {
	var rgb [3]int
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]); err != nil {
		panic(err)
	}
	linear := func(v int) float64 {
		c := float64(v) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(rgb[0]) + 0.7152*linear(rgb[1]) + 0.0722*linear(rgb[2])
}

func TestHandler_encodings(t *testing.T) {
	for _, tt := range []struct{ name, file, accept, want string }{
		{"browser", "app.css", "gzip, deflate, br, zstd", "br"},
		{"without brotli", "app.css", "gzip, deflate", "gzip"},
		{"nothing", "app.css", "", ""},
		{"refused", "app.css", "br;q=0, gzip; q=0.5", "gzip"},
		{"all refused", "app.css", "br;q=0.000, gzip;q=0", ""},
		{"other word", "app.css", "brotli, xgzip", ""},
		{"compressed already", "geist.woff2", "gzip, br", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", Path(tt.file), nil)
			r.Header.Set("Accept-Encoding", tt.accept)
			answer := httptest.NewRecorder()
			Handler().ServeHTTP(answer, r)
			if got := answer.Header().Get("Content-Encoding"); answer.Code != 200 || got != tt.want {
				t.Fatalf("%d in coding %q, want 200 in %q", answer.Code, got, tt.want)
			}
			var body io.Reader = answer.Body
			switch tt.want {
			case "br":
				body = brotli.NewReader(body)
			case "gzip":
				unzip, err := gzip.NewReader(body)
				if err != nil {
					t.Fatal(err)
				}
				body = unzip
			}
			content, err := io.ReadAll(body)
			if err != nil || !bytes.Equal(content, assets()[tt.file].content) {
				t.Errorf("%d bytes, %v, want the file's %d", len(content), err, len(assets()[tt.file].content))
			}
			if answer.Header().Get("Vary") != "Accept-Encoding" {
				t.Error("a cache may answer one coding for another")
			}
		})
	}
}
