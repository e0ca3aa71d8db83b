// Package docs holds the documentation and renders it for the dashboard: the Markdown files next to it, in
// the order of contents.go, with the URLs of the installation that shows them.
//
// It owns Markdown (CommonMark with tables), links between pages and the search. It leaves the
// pages around it to views/docs, and who may read it to handlers/pages.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed *.md
var files embed.FS

// The addresses that the Markdown has for a server on the reader's machine.
const (
	writtenControl = "http://127.0.0.1:8080"
	writtenGateway = "http://127.0.0.1:8090"
)

// Page is a rendered page.
type Page struct {
	Slug     string // of its address, and of its file
	Title    string
	HTML     string
	Headings []Heading // of the second level, in order

	sections []section // for the search
}

// Heading is a part of a page that links can lead to.
type Heading struct{ ID, Text string }

// Site is the rendered documentation of one installation. It is safe for concurrent use.
type Site struct {
	Control, Gateway string // addresses, without a trailing slash

	once  sync.Once
	pages map[string]*Page
	err   error
}

// Page returns a page by its slug, false if there is none.
func (s *Site) Page(slug string) (*Page, bool, error) {
	s.once.Do(s.render)
	page, ok := s.pages[slug]
	return page, ok, s.err
}

func (s *Site) render() {
	s.pages = map[string]*Page{}
	titles, err := titles()
	if err != nil {
		s.err = err
		return
	}
	for _, slug := range slugs() {
		page, err := s.renderPage(slug, titles)
		if err != nil {
			s.err = err
			return
		}
		s.pages[slug] = page
	}
}

// titles returns the first line of each page by its slug.
func titles() (map[string]string, error) {
	found := map[string]string{}
	for _, slug := range slugs() {
		source, err := files.ReadFile(slug + ".md")
		if err != nil {
			return nil, fmt.Errorf("docs: %w", err)
		}
		line, _, _ := strings.Cut(string(source), "\n")
		found[slug] = strings.TrimPrefix(line, "# ")
	}
	return found, nil
}

func (s *Site) renderPage(slug string, titles map[string]string) (*Page, error) {
	source, err := files.ReadFile(slug + ".md")
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	markdown := goldmark.New(
		goldmark.WithExtensions(extension.NewTable(
			// An attribute, since the content security policy forbids inline styles.
			extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute),
		)),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&blocks{site: s, titles: titles},
			100))),
	)
	tree := markdown.Parser().Parse(text.NewReader(source))
	page := &Page{Slug: slug}
	if err := page.read(tree, source); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, tree); err != nil {
		return nil, fmt.Errorf("docs: render %s: %w", slug, err)
	}
	page.HTML = strings.NewReplacer(
		"<table>", `<div class="docs-table" tabindex="0" role="group" aria-label="Table"><table>`,
		"</table>", "</table></div>",
		"<th></th>", "<td></td>", // of a column without a heading
	).Replace(out.String()) // in text, < is escaped
	return page, nil
}

// read collects headings and sections, and directs the links to the dashboard's URLs.
func (p *Page) read(tree ast.Node, source []byte) error {
	current := &section{}
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, title := headingID(n), plain(n, source)
			switch n.Level {
			case 1:
				p.Title, current.title = title, title
			case 2:
				p.Headings = append(p.Headings, Heading{ID: id, Text: title})
				fallthrough
			default:
				p.sections = append(p.sections, *current)
				current = &section{title: title, id: id}
			}
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			n.Destination = []byte(address(string(n.Destination)))
		case *ast.FencedCodeBlock:
			current.text += " " + string(n.Lines().Value(source))
		case *ast.Text:
			current.text += " " + string(n.Value(source))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return fmt.Errorf("docs: read %s: %w", p.Slug, err)
	}
	p.sections = append(p.sections, *current)
	if p.Title == "" {
		return fmt.Errorf("docs: %s.md has no heading of the first level", p.Slug)
	}
	return nil
}

func headingID(n *ast.Heading) string {
	id, _ := n.AttributeString("id")
	text, _ := id.([]byte)
	return string(text)
}

// plain returns the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	}) // the function returns no error
	return out.String()
}

// address returns where a link of a file leads in the dashboard: to another page for a file next to it, "" for a
// file that only the repository has.
func address(link string) string {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "#") || strings.HasPrefix(link, "/") {
		return link
	}
	file, fragment, _ := strings.Cut(link, "#")
	slug, isPage := strings.CutSuffix(file, ".md")
	if !isPage || strings.Contains(slug, "/") {
		return ""
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	return "/docs/" + slug + fragment
}

// blocks renders what differs from goldmark's own HTML.
type blocks struct {
	site   *Site
	titles map[string]string // of pages, by slug
	code   int               // blocks so far, for their ids
}

// RegisterFuncs implements renderer.NodeRenderer.
func (b *blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, b.heading)
	r.Register(ast.KindFencedCodeBlock, b.codeBlock)
	r.Register(ast.KindLink, b.link)
}

func (b *blocks) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Heading) //nolint:forcetypeassert // registered for this kind
	id := html.EscapeString(headingID(n))
	if entering {
		fmt.Fprintf(w, `<h%d id="%s">`, n.Level, id)
		return ast.WalkContinue, nil
	}
	if n.Level > 1 {
		fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="Link to this section">#</a>`, id)
	}
	fmt.Fprintf(w, "</h%d>\n", n.Level)
	return ast.WalkContinue, nil
}

// codeBlock can be scrolled by keyboard, and copied.
func (b *blocks) codeBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.FencedCodeBlock) //nolint:forcetypeassert // registered for this kind
	b.code++
	code := strings.NewReplacer(writtenControl, b.site.Control, writtenGateway, b.site.Gateway).
		Replace(string(n.Lines().Value(source)))
	fmt.Fprintf(w, `<div class="docs-code"><pre tabindex="0"><code id="code-%d">%s</code></pre>`+
		`<button type="button" class="btn btn-small" data-copy="code-%d" hidden>Copy</button></div>`+"\n",
		b.code, html.EscapeString(strings.TrimSuffix(code, "\n")), b.code)
	return ast.WalkSkipChildren, nil
}

func (b *blocks) link(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Link)        //nolint:forcetypeassert // registered for this kind
	if len(n.Destination) == 0 { // what only the repository has
		return ast.WalkContinue, nil
	}
	if !entering {
		_, _ = w.WriteString("</a>") // into a bytes.Buffer, which returns no error
		return ast.WalkContinue, nil
	}
	fmt.Fprintf(w, `<a href="%s" rel="noreferrer">`, html.EscapeString(string(n.Destination)))
	// A page is not called by the name of its file.
	if slug, ok := strings.CutSuffix(plain(n, source), ".md"); ok && b.titles[slug] != "" {
		_, _ = w.WriteString(html.EscapeString(b.titles[slug])) // as above
		return ast.WalkSkipChildren, nil
	}
	return ast.WalkContinue, nil
}
