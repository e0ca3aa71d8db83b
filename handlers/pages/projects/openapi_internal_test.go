package projects

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/views/projects"
)

// The page of a document with 10,000 operations stays under 500 KB, and its pages have each operation once.
func TestAddOperations_pages(t *testing.T) {
	t.Parallel()
	const all, most = 10_000, 500_000
	var found contract.OpenAPI
	for i := range all {
		found.Operations = append(found.Operations, contract.OpenAPIOperation{
			Method:  "GET",
			Path:    fmt.Sprintf("/organizations/{organization}/projects/{project}/things/%05d", i),
			Summary: strings.Repeat("What the operation does, at length. ", 10),
			Tag:     fmt.Sprintf("Things of kind %d", i%300),
			Scopes:  []string{"things:read", "things:write"},
		})
	}
	seen, pages := map[string]bool{}, 0
	for at := "1"; at != ""; pages++ {
		m := projects.OpenAPI{URL: "/projects/shop/versions/1.0.0/openapi", Total: all, Search: "things"}
		addOperations(&m, found, at)
		var out bytes.Buffer
		if err := projects.OpenAPIPage(m).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if out.Len() > most {
			t.Fatalf("page %s has %d bytes, more than %d", at, out.Len(), most)
		}
		for _, group := range m.Groups {
			for _, row := range group.Rows {
				if seen[row.Path] || !strings.Contains(out.String(), row.Path) {
					t.Fatalf("page %s: %s is there twice, or not at all", at, row.Path)
				}
				seen[row.Path] = true
			}
		}
		_, next, _ := strings.Cut(m.Paging.NextURL, "page=")
		at, _, _ = strings.Cut(next, "&")
	}
	if len(seen) != all || pages != all/page.PagingSize {
		t.Errorf("%d operations on %d pages", len(seen), pages)
	}
}
