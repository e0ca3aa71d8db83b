package manual

import (
	"sync"

	"postern/docs"
	"postern/handlers/page"
	"postern/handlers/web"
	manuals "postern/views/docs"
	"postern/views/ui"
)

// manual is the documentation of this installation, rendered when it is first read.
type manual struct {
	once      sync.Once
	site      *docs.Site
	reference *docs.Reference
	err       error
}

func (h *Handler) docs() (*docs.Site, *docs.Reference, error) {
	m := &h.manual
	m.once.Do(func() {
		m.site = &docs.Site{Control: h.Web.Config.PublicURL, Gateway: h.Web.Config.GatewayURL}
		var document []byte
		if document, m.err = h.Document(); m.err == nil {
			m.reference, m.err = docs.ReadReference(document, h.Web.Config.PublicURL)
		}
	})
	return m.site, m.reference, m.err
}

// docsFrame has the parts of every page of the documentation.
func (h *Handler) docsFrame(v *page.Visit, title, here string) (manuals.Frame, error) {
	if _, err := v.Authenticate(); err != nil {
		return manuals.Frame{}, err
	}
	site, _, err := h.docs()
	if err != nil {
		return manuals.Frame{}, err
	}
	crumbs := []ui.Crumb{{Text: "Docs", URL: "/docs"}}
	if here != "/docs" {
		crumbs = append(crumbs, ui.Crumb{Text: title})
	}
	m := manuals.Frame{Page: v.Shell(title, here, crumbs...)}
	for _, chapter := range docs.Contents {
		group := manuals.Chapter{Title: chapter.Title}
		for _, slug := range chapter.Slugs {
			page, _, err := site.Page(slug)
			if err != nil {
				return m, err
			}
			url := "/docs/" + slug
			group.Pages = append(group.Pages, ui.Tab{URL: url, Text: page.Title, Current: url == here})
		}
		if chapter.Title == "Team" {
			url := "/docs/reference"
			group.Pages = append(group.Pages, ui.Tab{URL: url, Text: "API reference", Current: url == here})
		}
		if chapter.Title == "Operation" {
			url := "/docs/" + docs.NoticesSlug
			group.Pages = append(group.Pages, ui.Tab{URL: url, Text: docs.NoticesTitle, Current: url == here})
		}
		m.Chapters = append(m.Chapters, group)
	}
	return m, nil
}

// showDocs shows the contents, or what a search finds.
func (h *Handler) showDocs(v *page.Visit) (web.Answer, error) {
	frame, err := h.docsFrame(v, "Documentation", "/docs")
	if err != nil {
		return web.Answer{}, err
	}
	frame.Query = v.Gin.Query("q")
	m := manuals.Index{Frame: frame}
	if frame.Query != "" {
		site, reference, err := h.docs()
		if err != nil {
			return web.Answer{}, err
		}
		hits, err := site.Search(frame.Query)
		if err != nil {
			return web.Answer{}, err
		}
		for _, hit := range append(hits, reference.Search(frame.Query)...) {
			m.Hits = append(m.Hits, manuals.Hit{
				URL:     hit.URL,
				Page:    hit.Page,
				Section: hit.Section,
				Excerpt: hit.Excerpt,
			})
		}
	}
	return web.Show(manuals.IndexPage(m)), nil
}

func (h *Handler) showDocsPage(v *page.Visit) (web.Answer, error) {
	site, reference, err := h.docs()
	if err != nil {
		return web.Answer{}, err
	}
	slug := v.Param("page")
	if slug == "reference" {
		return h.showReferenceIndex(v, reference)
	}
	page, ok, err := site.Page(slug)
	if slug == docs.NoticesSlug {
		ok = true
		page, err = docs.NoticesPage()
	}
	if err != nil {
		return web.Answer{}, err
	}
	if !ok {
		return web.Answer{}, web.NotFound()
	}
	frame, err := h.docsFrame(v, page.Title, "/docs/"+slug)
	m := manuals.Article{Frame: frame, HTML: page.HTML}
	for _, heading := range page.Headings {
		m.Headings = append(m.Headings, ui.Link{URL: "#" + heading.ID, Text: heading.Text})
	}
	return web.Show(manuals.ArticlePage(m)), err
}

func (h *Handler) showReferenceIndex(v *page.Visit, reference *docs.Reference) (web.Answer, error) {
	frame, err := h.docsFrame(v, "API reference", "/docs/reference")
	m := manuals.Reference{Frame: frame}
	for _, tag := range reference.Tags {
		m.Tags = append(m.Tags, referenceTag(tag))
	}
	return web.Show(manuals.ReferencePage(m)), err
}

func (h *Handler) showReference(v *page.Visit) (web.Answer, error) {
	_, reference, err := h.docs()
	if err != nil {
		return web.Answer{}, err
	}
	tag, ok := reference.Tag(v.Param("tag"))
	if !ok {
		return web.Answer{}, web.NotFound()
	}
	frame, err := h.docsFrame(v, tag.Title+" API", "/docs/reference/"+tag.Slug)
	return web.Show(manuals.TagPage(manuals.TagDetail{Frame: frame, Tag: referenceTag(tag)})), err
}

func referenceTag(tag docs.Tag) manuals.Tag {
	out := manuals.Tag{Title: tag.Title, URL: "/docs/reference/" + tag.Slug}
	for _, o := range tag.Operations {
		row := manuals.Operation{
			ID:          o.ID,
			Method:      o.Method,
			Path:        o.Path,
			Summary:     o.Summary,
			Description: o.Description,
			Curl:        o.Curl,
			Parameters:  referenceFields(o.Parameters),
			Body:        referenceFields(o.Body),
			BodyType:    o.BodyType,
		}
		for _, a := range o.Answers {
			row.Answers = append(row.Answers, manuals.Answer{
				Status: a.Status,
				Doc:    a.Doc,
				Fields: referenceFields(a.Fields),
			})
		}
		out.Operations = append(out.Operations, row)
	}
	return out
}

func referenceFields(list []docs.Field) []manuals.Field {
	var out []manuals.Field
	for _, f := range list {
		out = append(out, manuals.Field{Name: f.Name, In: f.In, Type: f.Type, Doc: f.Doc, Required: f.Required})
	}
	return out
}
