package pages

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/config"
	"postern/views/team"
	"postern/views/ui"
)

const memberOperations = `{"paths": {
	"/api/v1/teams/{team}/members": {"get": {"operationId": "list-members", "summary": "List members"}},
	"/api/v1/teams/{team}/members/{account}": {
		"patch": {
			"operationId": "change-role", "summary": "Change a role",
			"requestBody": {"content": {"application/json": {}}}
		},
		"delete": {"operationId": "remove-member", "summary": "Remove a member"}
	}
}}`

// BenchmarkPage_code renders a team of 50 members with two forms each: without the drawer, with it, and for an answer
// that htmx takes a part of.
func BenchmarkPage_code(b *testing.B) {
	settings := config.Default()
	h := &Handler{
		Web:      &web.Site{Config: settings},
		Document: func() ([]byte, error) { return []byte(memberOperations), nil },
	}
	model := team.Team{
		Page: ui.Page{Title: "Shop", Here: "/teams/team_1", Account: &ui.Account{Name: "Ana", Team: "Shop"}},
		Name: "Shop",
	}
	for i := range 50 {
		path := fmt.Sprintf("/teams/team_1/members/acc_%d", i)
		model.Members = append(model.Members, team.Member{
			ID:           fmt.Sprintf("acc_%d", i),
			Name:         fmt.Sprintf("Member %d", i),
			Email:        fmt.Sprintf("member-%d@example.com", i),
			Role:         "Member",
			Roles:        []ui.Option{{Value: "owner"}, {Value: "member", Chosen: true}, {Value: "viewer"}},
			Revision:     `"1"`,
			RoleAction:   path + "/role",
			RemoveAction: path + "/remove",
		})
	}
	for _, kind := range []string{"none", "page", "part"} {
		b.Run(kind, func(b *testing.B) {
			c, _ := gin.CreateTestContext(httptest.NewRecorder())
			c.Request = httptest.NewRequest(http.MethodGet, "/teams/team_1?q=ana&sort=name&dir=desc", nil)
			if kind == "part" {
				c.Request.Header.Set("HX-Request", "true")
			}
			v := &page.Visit{Gin: c}
			ctx := b.Context()
			if kind != "none" {
				ctx = ui.WithCode(
					ctx,
					func(path string, rendered []byte) ui.Code { return h.codeOfPage(v, path, rendered) },
				)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := team.TeamPage(model).Render(ctx, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
