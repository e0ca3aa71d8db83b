package projects_test

import (
	"testing"

	"postern/core/policy"
	"postern/models"
	"postern/service/projects"
	"postern/testkit/state"
)

func TestExplain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newHouse(t, db)
		var asked policy.Question
		h.Gateway = func(q policy.Question) policy.Explanation {
			asked = q
			return policy.Explanation{}
		}
		t.Run("the query is left out", func(t *testing.T) {
			in := projects.ExplainInput{Version: "1.0.0", Method: "get", Path: "/orders?status=open&to=/x?"}
			if _, err := h.Explain(t.Context(), h.owner, h.project, in); err != nil {
				t.Fatal(err)
			}
			if asked.Path != "/orders" || asked.Method != "GET" {
				t.Errorf("%s %q", asked.Method, asked.Path)
			}
		})
		for _, method := range []string{"TRACE", "CONNECT", "G ET", "GET;", "ÄT"} {
			t.Run(method, func(t *testing.T) {
				_, err := h.Explain(t.Context(), h.owner, h.project,
					projects.ExplainInput{Version: "1.0.0", Method: method})
				if got := fieldOf(err, "/method"); got.Code != "invalid_method" {
					t.Errorf("%v", err)
				}
			})
		}
	})
}
