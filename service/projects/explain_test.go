package projects_test

import (
	"testing"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/testkit/state"
)

func TestExplain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		of := contract.ProjectPath{Project: h.project}
		var asked policy.Question
		h.Gateway = func(q policy.Question) policy.Explanation {
			asked = q
			return policy.Explanation{}
		}
		t.Run("the query is left out", func(t *testing.T) {
			in := contract.Question{
				ProjectPath: of, Version: "1.0.0", Method: "get", Path: "/orders?status=open&to=/x?",
			}
			if _, err := h.Explain(t.Context(), h.owner, in); err != nil {
				t.Fatal(err)
			}
			if asked.Path != "/orders" || asked.Method != "GET" {
				t.Errorf("%s %q", asked.Method, asked.Path)
			}
		})
		for _, method := range []string{"TRACE", "CONNECT", "G ET", "GET;", "ÄT"} {
			t.Run(method, func(t *testing.T) {
				in := contract.Question{ProjectPath: of, Version: "1.0.0", Method: method}
				_, err := h.Explain(t.Context(), h.owner, in)
				if got := fieldOf(err, "/method"); got.Code != "invalid_method" {
					t.Errorf("%v", err)
				}
			})
		}
	})
}
