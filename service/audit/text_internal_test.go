package audit

import (
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

func TestActionText(t *testing.T) {
	t.Parallel()
	ana := contract.AuditActor{ID: "acc_1", Email: new("ana@example.com")}
	born := func(field string, value any) map[string]contract.AuditChange {
		return map[string]contract.AuditChange{field: {After: value}}
	}
	gone := func(field string, value any) map[string]contract.AuditChange {
		return map[string]contract.AuditChange{field: {Before: value}}
	}
	for want, e := range map[string]contract.AuditEntry{
		`ana@example.com created the group "admins"`: {
			Actor: ana, Action: "user.update", Object: "grp_1", Changes: born("name", "admins"),
		},
		`ana@example.com deleted the group "admins"`: {
			Actor: ana, Action: "user.update", Object: "grp_1", Changes: gone("name", "admins"),
		},
		"ana@example.com changed the group grp_1": {
			Actor: ana, Action: "user.update", Object: "grp_1", Changes: born("added", []any{"usr_1"}),
		},
		`ana@example.com created the approval "example.com"`: {
			Actor: ana, Action: "user.update", Object: "apv_1", Changes: born("value", "example.com"),
		},
		`ana@example.com created the app client "web"`: {
			Actor: ana, Action: "login.update", Object: "cli_1", Changes: born("name", "web"),
		},
		"ana@example.com changed the provider idp_1": {
			Actor: ana, Action: "login.update", Object: "idp_1", Detail: map[string]string{"change": "secret"},
		},
		"ana@example.com removed the member acc_2": {
			Actor: ana, Action: "member.change", Object: "acc_2", Changes: gone("role", "viewer"),
		},
		`ana@example.com created the product "store"`: {
			Actor: ana, Action: "product.create", Object: "prd_1", Detail: map[string]string{"name": "store"},
		},
		"ana@example.com removed the client certificate of shop": {
			Actor: ana, Action: "project.update", Object: "prj_1", ProjectName: "shop",
			Detail: map[string]string{"change": "no client certificate of env_1"},
		},
		"ana@example.com changed the rules of version 1.0.0 of shop": {
			Actor: ana, Action: "project.update", Object: "prj_1", ProjectName: "shop",
			Detail: map[string]string{"change": "set", "object": "rules of version 1.0.0"},
		},
		"ana@example.com rotated the secret for the webhook whk_1": {
			Actor: ana, Action: "webhook.change", Object: "whk_1", Detail: map[string]string{"change": "rotate"},
		},
		"Postern turned off the webhook whk_1": {
			Actor: contract.AuditActor{ID: access.ActorSystem}, Action: "webhook.disable", Object: "whk_1",
		},
		"The user usr_1 signed in for the first time": {
			Actor: contract.AuditActor{ID: access.ActorAnonymous}, Action: "user.arrive", Object: "usr_1",
		},
		`Postern permanently deleted the project "shop"`: {
			Actor: contract.AuditActor{ID: access.ActorSystem}, Action: "project.purge", Object: "prj_1",
			Detail: map[string]string{"name": "shop"},
		},
		`ana@example.com imported the project "shop"`: {
			Actor: ana, Action: "project.import", Object: "prj_1", Detail: map[string]string{"name": "shop"},
		},
		`ana@example.com updated the project "shop" with an import`: {
			Actor: ana, Action: "project.update", Object: "prj_1",
			Detail: map[string]string{"name": "shop", "change": "import", "import": "kong 3.0"},
		},
		`ana@example.com created the import plan "kong"`: {
			Actor: ana, Action: "project.import", Object: "pln_1",
			Detail: map[string]string{"change": "plan", "name": "kong"},
		},
		"ana@example.com created an import plan": {
			Actor: ana, Action: "project.import", Object: "pln_1", Detail: map[string]string{"change": "plan"},
		},
		`ana@example.com changed the import plan "kong"`: {
			Actor: ana, Action: "project.import", Object: "pln_1",
			Detail: map[string]string{"change": "settings", "name": "kong"},
		},
		`ana@example.com deleted the import plan "kong"`: {
			Actor: ana, Action: "project.import", Object: "pln_1",
			Detail: map[string]string{"change": "delete", "name": "kong"},
		},
		`ana@example.com applied the import plan "kong"`: {
			Actor: ana, Action: "project.import", Object: "pln_1",
			Detail: map[string]string{"change": "apply", "name": "kong", "import": "imp_1"},
		},
		`ana@example.com applied the import plan "kong", which changed nothing`: {
			Actor: ana, Action: "project.import", Object: "pln_1",
			Detail: map[string]string{"change": "apply", "name": "kong", "import": ""},
		},
		`ana@example.com imported files from another gateway as "kong"`: {
			Actor: ana, Action: "project.import", Object: "imp_1",
			Detail: map[string]string{"name": "kong", "import": "kong 3.0"},
		},
		"ana@example.com imported files from another gateway": {
			Actor: ana, Action: "project.import", Object: "imp_2", Detail: map[string]string{"import": "kong 3.0"},
		},
		`ana@example.com undid the import "kong"`: {
			Actor: ana, Action: "project.import", Object: "imp_1",
			Detail: map[string]string{"change": "undo", "name": "kong"},
		},
	} {
		e.Outcome = models.OutcomeDone
		if got := ActorText(e) + " " + ActionText(e); got != want {
			t.Errorf("%s is shown as %q, want %q", e.Action, got, want)
		}
	}
}

// Entries don't always have what a sentence names. The sentence is complete without it.
func TestActionText_withoutDetails(t *testing.T) {
	t.Parallel()
	for _, action := range access.Recorded() {
		for _, outcome := range []string{models.OutcomeDone, models.OutcomeRefused} {
			for _, change := range []string{"", "plan", "settings", "delete", "apply", "undo", "import", "CORS"} {
				e := contract.AuditEntry{Action: string(action), Outcome: outcome, Detail: map[string]string{}}
				if change != "" {
					e.Detail["change"] = change
				}
				text := ActionText(e)
				if strings.Contains(text, `""`) || strings.Contains(text, "  ") || strings.TrimSpace(text) != text {
					t.Errorf("%s (%s, change %q) is shown as %q", action, outcome, change, text)
				}
			}
		}
	}
}
