package export

import (
	"strings"
	"testing"
	"time"

	"postern/core/contract"
)

func TestPrintMovedIn(t *testing.T) {
	t.Parallel()
	did := contract.MovedIn{
		ID: "imp_2", Source: "kong 3.0", Product: "kong", Tenant: "kong", CreatedAt: time.Now(),
		Created: contract.MovedCounts{Projects: 1, Keys: 2}, Updated: contract.MovedCounts{Versions: 1}, Unchanged: 3,
		Projects: []contract.MovedProject{{
			Name: "orders", URLs: []string{"https://orders.example/1.0.0/prod"}, Closed: []string{"2.0.0"},
		}},
		ToDo: []contract.LedgerLine{{Title: "Plugin ldap-auth", Status: "skipped", Remedy: new("Use a key.")}},
		Kept: contract.MovedList{Total: 1, Items: []contract.MovedObject{
			{Kind: "key", Name: "billing", Detail: "It was changed here."},
		}},
	}
	const undo = "To undo the import: postern imports undo imp_2"
	stuck := did
	stuck.CannotUndo = "This import can't be undone, because it changed objects from an earlier one."
	by := &contract.ImportByHand{Hosts: []string{"api.example.com"}}
	for name, tt := range map[string]struct {
		did         *contract.MovedIn
		by          *contract.ImportByHand
		want, lacks []string
	}{
		"applied now": {
			&did, by, []string{
				"Imported as imp_2: created 1 project, 2 keys; updated 1 version; 3 unchanged.", "project orders",
				"https://orders.example/1.0.0/prod", "key billing: It was changed here.", "postern domains approve",
				undo, "closed version: 2.0.0.",
			}, []string{"Imported from", "Use a key."},
		},
		"applied before": {
			&did, nil, []string{"Imported from kong 3.0 on ", "the product kong and the tenant kong", undo,
				"To do\n    Plugin ldap-auth: Use a key.\n"},
			[]string{"postern domains"},
		},
		"that can't be undone": {&stuck, by, []string{stuck.CannotUndo}, []string{undo}},
		"without changes":      {&contract.MovedIn{}, by, []string{"Nothing was changed."}, []string{undo}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := printMovedIn(&out, tt.did, tt.by); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q isn't in\n%s", want, out.String())
				}
			}
			for _, lacks := range tt.lacks {
				if strings.Contains(out.String(), lacks) {
					t.Errorf("%q is in\n%s", lacks, out.String())
				}
			}
		})
	}
}
