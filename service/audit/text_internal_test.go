package audit

import (
	"slices"
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
		`ana@example.com changed the group "admins"`: {
			Actor: ana, Action: "user.update", Object: "grp_1", Changes: born("added", []any{"usr_1"}),
			Detail: map[string]string{"name": "admins"},
		},
		`ana@example.com created the approval "example.com"`: {
			Actor: ana, Action: "user.update", Object: "apv_1", Changes: born("value", "example.com"),
		},
		`ana@example.com created the app client "web"`: {
			Actor: ana, Action: "login.update", Object: "cli_1", Changes: born("name", "web"),
		},
		`ana@example.com changed the provider "Google" of the app client "web"`: {
			Actor: ana, Action: "login.update", Object: "idp_1",
			Detail: map[string]string{"change": "secret", "name": "Google", "app_client": "web"},
		},
		`ana@example.com created the provider "Google" of the app client "web"`: {
			Actor: ana, Action: "login.update", Object: "idp_1", Changes: born("type", "google"),
			Detail: map[string]string{"name": "Google", "app_client": "web"},
		},
		`ana@example.com removed the member "ben@example.com"`: {
			Actor: ana, Action: "member.change", Object: "acc_2", Changes: gone("role", "viewer"),
			Detail: map[string]string{"name": "ben@example.com"},
		},
		"ben@example.com left the team": {
			Actor: contract.AuditActor{ID: "acc_2"}, Action: "member.leave", Object: "acc_2",
			Changes: gone("role", "viewer"), Detail: map[string]string{"name": "ben@example.com"},
		},
		"ana@example.com joined the team": {Actor: ana, Action: "invitation.accept", Object: "inv_1"},
		"ana@example.com changed their account": {
			Actor: ana, Action: "account.update", Object: "tok_1", Changes: gone("kind", "session"),
		},
		`ana@example.com attached the tenant "acme" to orders`: {
			Actor: ana, Action: "project.update", Object: "prj_1", ProjectName: "orders",
			Detail: map[string]string{"name": "orders", "change": "attach", "object": `tenant "acme"`},
		},
		`ana@example.com detached the tenant "acme" from orders`: {
			Actor: ana, Action: "project.update", Object: "prj_1", ProjectName: "orders",
			Detail: map[string]string{"name": "orders", "change": "detach", "object": `tenant "acme"`},
		},
		"ana@example.com imported keys from a file for orders": {
			Actor: ana, Action: "key.create", Object: "prj_1", ProjectName: "orders",
			Detail: map[string]string{"import": "file", "created": "3"},
		},
		"ana@example.com checked a key for orders": {
			Actor: ana, Action: "key.change", Object: "prj_1", ProjectName: "orders",
			Detail: map[string]string{"check": "a key matches", "key": "key_1"},
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
		"ana@example.com added the environment dev to version 1.0.0 of shop": {
			Actor: ana, Action: "project.update", Object: "prj_1", ProjectName: "shop",
			Detail: map[string]string{"change": "add", "object": "environment dev of version 1.0.0"},
		},
		"ana@example.com removed the environment dev from version 1.0.0 of shop": {
			Actor: ana, Action: "project.update", Object: "prj_1", ProjectName: "shop",
			Detail: map[string]string{"change": "remove", "object": "environment dev of version 1.0.0"},
		},
		`ana@example.com rotated the secret for the webhook "Chat"`: {
			Actor: ana, Action: "webhook.change", Object: "whk_1",
			Detail: map[string]string{"change": "rotate", "name": "Chat"},
		},
		`Postern turned off the webhook "https://hooks.example.com"`: {
			Actor: contract.AuditActor{ID: access.ActorSystem}, Action: "webhook.disable", Object: "whk_1",
			Detail: map[string]string{"name": "https://hooks.example.com"},
		},
		"ben@example.com signed in for the first time": {
			Actor: contract.AuditActor{ID: access.ActorAnonymous}, Action: "user.arrive", Object: "usr_1",
			Detail: map[string]string{"name": "ben@example.com"},
		},
		`The user "Ben" signed in for the first time`: {
			Actor: contract.AuditActor{ID: access.ActorAnonymous}, Action: "user.arrive", Object: "usr_2",
			Detail: map[string]string{"name": "Ben"},
		},
		"A user signed in for the first time": {
			Actor: contract.AuditActor{ID: access.ActorAnonymous}, Action: "user.arrive", Object: "usr_3",
		},
		"ben@example.com linked a provider": {
			Actor: contract.AuditActor{ID: access.ActorAnonymous}, Action: "user.update", Object: "usr_1",
			Detail:  map[string]string{"by": "user", "name": "ben@example.com"},
			Changes: born("linked_provider", "idp_1"),
		},
		"ben@example.com unlinked a provider": {
			Actor: contract.AuditActor{ID: access.ActorAnonymous}, Action: "user.update", Object: "usr_1",
			Detail:  map[string]string{"by": "user", "name": "ben@example.com"},
			Changes: gone("linked_provider", "idp_1"),
		},
		`A provider changed the user "ben@example.com"`: {
			Actor: contract.AuditActor{ID: access.ActorAnonymous}, Action: "user.update", Object: "usr_1",
			Detail: map[string]string{"by": "claims", "name": "ben@example.com"},
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

// TestActionText_names writes a sentence about an object of each kind: it has the object's name, and never an id.
func TestActionText_names(t *testing.T) {
	t.Parallel()
	unnamed := []access.Action{ // about the actor, the log, an export, or a key, which its last characters name
		access.AccountDelete, access.AccountSignIn, access.AuditTrim, access.ExportCreate, access.ExportDownload,
		access.ExportSecrets, access.InvitationAccept, access.KeyChange, access.KeyCreate, access.MemberLeave,
		access.UserArrive, access.WorkspaceClaim, access.WorkspacePurge, access.DomainApprove, access.DomainChange,
		access.DomainReport,
	}
	prefixes := []string{
		"acc", "apv", "cli", "dom", "exp", "grp", "idp", "inv", "key", "prd", "prj", "tnt", "tok", "usr", "whk",
	}
	for _, action := range access.Recorded() {
		for _, prefix := range prefixes {
			for _, by := range []string{"", "user"} {
				e := contract.AuditEntry{
					Actor: contract.AuditActor{ID: "acc_1"}, Action: string(action), Object: prefix + "_1",
					Outcome: models.OutcomeDone, Detail: map[string]string{"name": "the name", "by": by},
				}
				text := ActorText(e) + " " + ActionText(e)
				if by == "" && !slices.Contains(unnamed, action) && action != access.ProjectUpdate &&
					!strings.Contains(text, `"the name"`) {
					t.Errorf("%s of %s is shown without a name: %s", action, e.Object, text)
				}
				delete(e.Detail, "name")
				for _, text := range []string{text, ActorText(e) + " " + ActionText(e)} {
					if strings.Contains(text, "_1") {
						t.Errorf("%s of %s is shown with an id: %s", action, e.Object, text)
					}
				}
			}
		}
	}
}

// Entries don't always have what a sentence names. The sentence is complete without it.
func TestActionText_withoutDetails(t *testing.T) {
	t.Parallel()
	for _, action := range access.Recorded() {
		for _, outcome := range []string{models.OutcomeDone, models.OutcomeRefused} {
			for _, change := range []string{"", "plan", "settings", "delete", "apply", "undo", "import", "CORS"} {
				e := contract.AuditEntry{
					Action: string(action), Object: "usr_1", Outcome: outcome, Detail: map[string]string{},
				}
				if change != "" {
					e.Detail["change"] = change
				}
				text := ActionText(e)
				if strings.Contains(text, `""`) || strings.Contains(text, "  ") || strings.TrimSpace(text) != text ||
					strings.Contains(text, "usr_1") {
					t.Errorf("%s (%s, change %q) is shown as %q", action, outcome, change, text)
				}
			}
		}
	}
}
