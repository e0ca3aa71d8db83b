package docs

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// section is a part of a page between two headings.
type section struct{ title, id, text string }

// Hit is a section that a search found.
type Hit struct {
	URL     string
	Page    string // title
	Section string // heading; the page's title for its beginning
	Excerpt string
	score   int
}

// maxHits bounds the results of a search, maxTerms what is searched for.
const (
	maxHits  = 30
	maxTerms = 8
)

// Search returns the sections that contain every word of a query, the most specific first.
func (s *Site) Search(query string) ([]Hit, error) {
	s.once.Do(s.render)
	terms := strings.Fields(strings.ToLower(query))
	if s.err != nil || len(terms) == 0 {
		return nil, s.err
	}
	terms = terms[:min(len(terms), maxTerms)]
	var hits []Hit
	for _, slug := range slugs() {
		page := s.pages[slug]
		for _, part := range page.sections {
			score := score(page.Title, part, terms)
			if score == 0 {
				continue
			}
			hit := Hit{URL: "/docs/" + slug, Page: page.Title, Section: part.title, score: score}
			if part.id != "" {
				hit.URL += "#" + part.id
			}
			hit.Excerpt = excerpt(part.text, terms)
			hits = append(hits, hit)
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return b.score - a.score })
	return hits[:min(len(hits), maxHits)], nil
}

// score is 0 unless every term occurs in the heading, the text or the page's title.
func score(title string, part section, terms []string) int {
	title, heading, body := strings.ToLower(title), strings.ToLower(part.title), strings.ToLower(part.text)
	total := 0
	for _, term := range terms {
		found := 0
		if strings.Contains(heading, term) {
			found += 10
		}
		if n := strings.Count(body, term); n > 0 {
			found += 1 + min(n, 4)
		}
		if strings.Contains(title, term) && (found > 0 || part.id == "") {
			found += 5
		}
		if found == 0 {
			return 0
		}
		total += found
	}
	return total
}

// excerptLength is the length of an excerpt, in bytes before it is cut at words.
const excerptLength = 180

// excerpt returns the text around the first occurrence of a term.
func excerpt(body string, terms []string) string {
	body = strings.Join(strings.Fields(body), " ")
	at := 0
	for _, term := range terms {
		if i := strings.Index(strings.ToLower(body), term); i >= 0 {
			at = i
			break
		}
	}
	from, to := max(0, min(at-excerptLength/3, len(body))), min(len(body), at+excerptLength)
	before, after := "", ""
	if from > 0 {
		from += strings.IndexByte(body[from:], ' ') + 1
		before = "… "
	}
	if to < len(body) {
		if i := strings.LastIndexByte(body[from:to], ' '); i > 0 {
			to = from + i
		}
		after = " …"
	}
	for from < to && !utf8.RuneStart(body[from]) {
		from++
	}
	return before + strings.ToValidUTF8(body[from:to], "") + after
}
