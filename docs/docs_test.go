package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/docs"
)

func TestContents_everyFile(t *testing.T) {
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, c := range docs.Contents {
		for _, slug := range c.Slugs {
			listed[slug+".md"]++
		}
	}
	for _, path := range paths {
		if listed[path] != 1 {
			t.Errorf("%s is listed %d times in Contents", path, listed[path])
		}
	}
	if len(listed) != len(paths) {
		t.Errorf("%d pages are listed, there are %d files", len(listed), len(paths))
	}
}

// The program has the same notices as its archives.
func TestNotices(t *testing.T) {
	want, err := os.ReadFile("THIRD_PARTY_NOTICES")
	if err != nil {
		t.Fatal(err)
	}
	got, err := docs.Notices()
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("THIRD_PARTY_NOTICES.gz is not THIRD_PARTY_NOTICES: run go run ./tools/notices")
	}
}

var (
	link   = regexp.MustCompile(`href="([^"]*)"`)
	anchor = regexp.MustCompile(` id="([^"]*)"`)
)

// Links lead to pages and sections that exist, and nothing needs an inline style or script.
func TestPages(t *testing.T) {
	site := &docs.Site{Control: "https://postern.example.com", Gateway: "https://proxy.example.com"}
	ids := map[string][]string{}
	for _, c := range docs.Contents {
		for _, slug := range c.Slugs {
			page, ok, err := site.Page(slug)
			if err != nil || !ok {
				t.Fatalf("%s: %t, %v", slug, ok, err)
			}
			ids["/docs/"+slug] = append(ids["/docs/"+slug], "")
			for _, m := range anchor.FindAllStringSubmatch(page.HTML, -1) {
				ids["/docs/"+slug] = append(ids["/docs/"+slug], m[1])
			}
			for _, forbidden := range []string{" style=", "<script", "<img", "http://127.0.0.1:8080/api"} {
				if strings.Contains(page.HTML, forbidden) {
					t.Errorf("%s contains %s", slug, forbidden)
				}
			}
		}
	}
	for _, c := range docs.Contents {
		for _, slug := range c.Slugs {
			page, _, _ := site.Page(slug)
			for _, m := range link.FindAllStringSubmatch(page.HTML, -1) {
				path, fragment, _ := strings.Cut(m[1], "#")
				if strings.Contains(path, "://") {
					continue
				}
				if path == "" {
					path = "/docs/" + slug
				}
				if strings.HasPrefix(path, "/docs/") && !slices.Contains(ids[path], fragment) {
					t.Errorf("%s.md links to %s, which does not exist", slug, m[1])
				}
			}
		}
	}
}

// The files that pages name in the repository exist.
func TestLinks_repository(t *testing.T) {
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\((\.\./[^)#]+)`).FindAllSubmatch(text, -1) {
			if _, err := os.Stat(string(m[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	site := &docs.Site{Control: "https://postern.example.com", Gateway: "https://proxy.example.com"}
	page, _, err := site.Page("quick-start")
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"https://postern.example.com/proxy", "https://proxy.example.com/books/1.0.0/prod"} {
		if !strings.Contains(page.HTML, says) {
			t.Errorf("the quick start does not contain %s", says)
		}
	}
}

// Commands can be pasted into a shell: lines that continue end with the backslash, and curl says that it sends JSON,
// because the API refuses its default, a form.
func TestCommands(t *testing.T) {
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```sh\n(.*?)^```")
	json := regexp.MustCompile(`(?i) -d ['"][{\[]`)
	contentType := regexp.MustCompile(`(?i)-H ['"]content-type: application/json['"]`)
	for _, path := range append(paths, "../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], `\ -`) {
				t.Errorf("%s: a line continues after a backslash:\n%s", path, m[1])
			}
			for _, command := range strings.Split(m[1], "curl ")[1:] {
				if json.MatchString(command) && !contentType.MatchString(command) {
					t.Errorf("%s: curl sends JSON without a content type:\n%s", path, command)
				}
			}
		}
	}
}

func TestSearch(t *testing.T) {
	site := &docs.Site{}
	for query, want := range map[string]string{
		"rate limits":           "/docs/limits",
		"haproxy":               "/docs/replicas",
		"POSTERN_SMTP_URL":      "/docs/accounts",
		"frozen key 403":        "",
		"no such words anyhow7": "none",
		"":                      "none",
	} {
		hits, err := site.Search(query)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case want == "none":
			if len(hits) > 0 {
				t.Errorf("%q found %s", query, hits[0].URL)
			}
		case len(hits) == 0:
			t.Errorf("%q found nothing", query)
		case !slices.ContainsFunc(hits[:min(len(hits), 5)],
			func(h docs.Hit) bool { return strings.HasPrefix(h.URL, want) }):
			t.Errorf("%q found first %s, want %s", query, hits[0].URL, want)
		}
	}
}
