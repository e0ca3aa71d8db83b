package views_test

import (
	"bytes"
	"context"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"postern/static"
)

var preview = flag.String("preview", "", "folder to write every page and its files to, for a look in a browser")

// TestEveryPage holds every state of every page to what all pages promise.
func TestEveryPage(t *testing.T) {
	for _, s := range slices.Concat(states(), peopleStates(), searchStates()) {
		t.Run(s.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := s.page.Render(context.Background(), &buf); err != nil {
				t.Fatalf("render: %v", err)
			}
			if *preview != "" {
				writePreview(t, s.name, buf.Bytes())
			}
			doc, err := goquery.NewDocumentFromReader(bytes.NewReader(buf.Bytes()))
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			for _, complaint := range complaints(doc) {
				t.Error(complaint)
			}
		})
	}
}

// TestComplaints_found shows each rule a page that breaks it.
func TestComplaints_found(t *testing.T) {
	const frame = `<html lang="en"><head><title>x</title></head><body><main id="main"><h1>x</h1>%</main></body></html>`
	for want, fragment := range map[string]string{
		"h1":                 `<h1>second</h1>`,
		"inline style":       `<p style="color:red">x</p>`,
		"style element":      `<style>p{}</style>`,
		"inline script":      `<script>1</script>`,
		"event attribute":    `<p onclick="x()">x</p>`,
		"hx-on":              `<p hx-on:click="x()">x</p>`,
		"no label":           `<input name="a">`,
		"number":             `<label for="a">A</label><input id="a" name="a" type="number">`,
		"no name":            `<label for="a">A</label><input id="a">`,
		"form":               `<form method="get"></form>`,
		"neither a search":   `<form method="get" action="/x"></form>`,
		"no accessible name": `<button type="button"><svg aria-hidden="true"></svg></button>`,
		"duplicate id":       `<p id="a"></p><p id="a"></p>`,
		"does not exist":     `<p aria-describedby="nowhere">x</p>`,
		"not local":          `<script src="https://cdn.example/x.js"></script>`,
		"aria-hidden":        `<p><svg></svg></p>`,
		"scope":              `<table><tr><th>x</th></tr></table>`,
		"submit button":      `<form method="post" action="/x"></form>`,
		"heading level":      `<h3>x</h3>`,
		"javascript":         `<a href="javascript:x()">x</a>`,
		"no such section":    `<a href="#nowhere">x</a>`,
	} {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(strings.Replace(frame, "%", fragment, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(complaints(doc), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: no complaint about %q, got %q", fragment, want, got)
		}
	}
}

// complaints lists what is wrong with a page, nil when nothing is.
func complaints(doc *goquery.Document) []string {
	var out []string
	complain := func(about string, s *goquery.Selection) {
		text, err := goquery.OuterHtml(s)
		if err != nil {
			text = err.Error()
		}
		out = append(out, about+": "+text[:min(len(text), 160)])
	}
	each := func(selector, about string, wrong func(*goquery.Selection) bool) {
		doc.Find(selector).Each(func(_ int, s *goquery.Selection) {
			if wrong(s) {
				complain(about, s)
			}
		})
	}
	always := func(*goquery.Selection) bool { return true }

	if n := doc.Find("main h1").Length(); n != 1 {
		out = append(out, "a page has one h1 in main")
	}
	if doc.Find("html[lang]").Length() != 1 || doc.Find("head > title").Length() != 1 ||
		doc.Find("main#main").Length() != 1 {
		out = append(out, "lang, title or main is missing")
	}
	each("[style]", "inline style", always)
	each("style", "style element", always)
	each("script:not([src])", "inline script", always)
	each("script[src], link[rel=stylesheet], img[src]", "not local", func(s *goquery.Selection) bool {
		address := s.AttrOr("src", s.AttrOr("href", ""))
		if s.Is("img[referrerpolicy=no-referrer]") { // an app client's logo, whose host the page's policy names
			return !strings.HasPrefix(address, "https://")
		}
		return !strings.HasPrefix(address, static.Prefix) && !strings.HasPrefix(address, "/brand/")
	})
	each(`a[href^="#"]`, "no such section", func(s *goquery.Selection) bool {
		return doc.Find("[id='"+s.AttrOr("href", "")[1:]+"']").Length() == 0
	})
	each("a[href]", "javascript or unsafe address", func(s *goquery.Selection) bool {
		href := s.AttrOr("href", "")
		if _, leaves := s.Attr("data-leave"); leaves { // to another issuer, without telling it from where
			return !strings.HasPrefix(href, "https://") || s.AttrOr("rel", "") != "noreferrer"
		}
		return !strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "#")
	})
	each("*", "event attribute or hx-on", hasHandler)
	each("svg", "svg is not aria-hidden", func(s *goquery.Selection) bool {
		return s.AttrOr("aria-hidden", "") != "true"
	})
	each("th", "th without scope", func(s *goquery.Selection) bool { return s.AttrOr("scope", "") == "" })
	each(
		"form",
		"form without an action of ours, or that is neither a search nor sent with post",
		func(s *goquery.Selection) bool {
			search := s.AttrOr("method", "") == "get" && s.AttrOr("role", "") == "search"
			action := s.AttrOr("action", "")
			if _, leaves := s.Attr("data-back"); leaves { // to an application, with an authorization response
				return s.AttrOr("method", "") != "post" || !strings.HasPrefix(action, "https://")
			}
			return (s.AttrOr("method", "") != "post" && !search) || !strings.HasPrefix(action, "/")
		},
	)
	each("form", "form without submit button", func(s *goquery.Selection) bool {
		return s.Find("button:not([type=button])").Length() == 0
	})
	each("input:not([type=hidden]), select, textarea", "no label", func(s *goquery.Selection) bool {
		id := s.AttrOr("id", "")
		return id == "" || strings.TrimSpace(doc.Find("label[for='"+id+"']").Text()) == ""
	})
	each("input[type=number]", "number, which posts nothing for what it cannot read", always)
	// A hidden field without a name is for password managers, and is not sent.
	each("input:not([hidden]), select, textarea", "no name", func(s *goquery.Selection) bool {
		return s.AttrOr("name", "") == ""
	})
	each(
		"button, a, summary, progress, nav, [role=region], [role=group]",
		"no accessible name",
		func(s *goquery.Selection) bool {
			return accessibleName(doc, s) == ""
		},
	)
	each("fieldset", "fieldset without legend", func(s *goquery.Selection) bool {
		return strings.TrimSpace(s.Find("legend").Text()) == ""
	})
	out = append(out, idComplaints(doc)...)
	return append(out, headingComplaints(doc)...)
}

func hasHandler(s *goquery.Selection) bool {
	for _, a := range s.Nodes[0].Attr {
		if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") {
			return true
		}
	}
	return false
}

// accessibleName is what a screen reader calls the element, near enough: its
// label, the text of what labels it, or its own text.
func accessibleName(doc *goquery.Document, s *goquery.Selection) string {
	if label := s.AttrOr("aria-label", ""); label != "" {
		return label
	}
	if by := s.AttrOr("aria-labelledby", ""); by != "" {
		return strings.TrimSpace(doc.Find("[id='" + by + "']").Text())
	}
	if goquery.NodeName(s) == "nav" || s.AttrOr("role", "") != "" {
		return ""
	}
	return strings.TrimSpace(s.Text())
}

// idComplaints finds ids given twice and references to ids that do not exist.
func idComplaints(doc *goquery.Document) []string {
	var out []string
	seen := map[string]bool{}
	doc.Find("[id]").Each(func(_ int, s *goquery.Selection) {
		id := s.AttrOr("id", "")
		if seen[id] {
			out = append(out, "duplicate id "+id)
		}
		seen[id] = true
	})
	for _, attribute := range []string{"for", "aria-describedby", "aria-labelledby", "popovertarget", "data-copy"} {
		doc.Find("[" + attribute + "]").Each(func(_ int, s *goquery.Selection) {
			for _, id := range strings.Fields(s.AttrOr(attribute, "")) {
				if !seen[id] {
					out = append(out, attribute+" "+id+" does not exist")
				}
			}
		})
	}
	doc.Find("a[href^='#']").Each(func(_ int, s *goquery.Selection) {
		if id := s.AttrOr("href", "")[1:]; !seen[id] {
			out = append(out, "href #"+id+" does not exist")
		}
	})
	return out
}

// headingComplaints finds a heading level that was left out on the way down.
func headingComplaints(doc *goquery.Document) []string {
	var out []string
	last := 0
	doc.Find("main").Find("h1, h2, h3, h4").Each(func(_ int, s *goquery.Selection) {
		level := int(s.Nodes[0].Data[1] - '0')
		if level > last+1 {
			out = append(out, "heading level left out before: "+strings.TrimSpace(s.Text()))
		}
		last = level
	})
	return out
}

// writePreview keeps a page and the files it refers to.
func writePreview(t *testing.T, name string, page []byte) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, content []byte) {
		path = filepath.Join(*preview, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(name+".html", page)
	goquery.NewDocumentFromNode(root).Find("script[src], link[href]").Each(func(_ int, s *goquery.Selection) {
		address := s.AttrOr("src", s.AttrOr("href", ""))
		if !strings.HasPrefix(address, static.Prefix) {
			return // an app client's color
		}
		answer := httptest.NewRecorder()
		static.Handler().ServeHTTP(answer, httptest.NewRequest("GET", address, nil))
		if answer.Code != 200 {
			t.Errorf("%s is answered %d", address, answer.Code)
		}
		write(address, answer.Body.Bytes())
	})
}
