package handlers_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/service/projects"
	"postern/testkit/state"
)

// An operator takes another team's project down. Its team reads why, can take it
// away as a zip that says nothing of it, and cannot lift it.
func TestATakedownIsTheOperatorsAlone(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		path := "/api/v1/projects/" + o.strangers.project
		if got := call(t, o.handler, "PUT", path+"/takedown", "", `{"reason":" "}`, o.owner...); got.status != 422 || got.pointers()[0] != "/reason" {
			t.Errorf("no reason: %d %s", got.status, got.raw)
		}
		if got := call(t, o.handler, "PUT", path+"/takedown", "", `{"reason":"Phishing"}`, o.stranger...); got.status != 404 {
			t.Errorf("its own team takes it down: %d", got.status)
		}
		if got := call(t, o.handler, "PUT", path+"/takedown", "", `{"reason":"Phishing"}`, o.owner...); got.status != 200 || strings.Contains(got.raw, "target") {
			t.Fatalf("the operator: %d %s", got.status, got.raw)
		}
		err := db.Consistent(t.Context(), func(tx *models.Tx) error {
			compiled, err := projects.Compile(tx, o.strangers.project, o.server.Config.PublicURL)
			if err == nil && !compiled.TakenDown {
				t.Error("the gateway does not learn of it")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := call(t, o.handler, "GET", path, "", "", o.stranger...)
		if frozen, _ := got.body["frozen"].(map[string]any); frozen["reason"] != "Phishing" || frozen["since"] == "" {
			t.Errorf("its team reads %s", got.raw)
		}
		page := call(t, o.handler, "GET", "/projects/"+o.strangers.projectName, "", "", append([]string{"Accept", "text/html"}, o.stranger...)...)
		if !strings.Contains(page.raw, "Reason: Phishing") {
			t.Error("the dashboard does not say why")
		}
		log := call(t, o.handler, "GET", "/audit", "", "", append([]string{"Accept", "text/html"}, o.stranger...)...)
		if !strings.Contains(log.raw, "took down project theirs") || !strings.Contains(log.raw, "An operator") {
			t.Error("the audit log does not say so")
		}
		if entries := o.installation(t); entries[0].Action != "project.takedown" {
			t.Errorf("the operators' own log begins with %+v", entries[0])
		}
		if got := call(t, o.handler, "DELETE", path+"/takedown", "", "", o.stranger...); got.status != 404 {
			t.Errorf("its own team lifts it: %d", got.status)
		}

		export := call(t, o.handler, "POST", path+"/exports", "", `{"format":"gateway"}`, o.stranger...)
		id, _ := export.body["id"].(string)
		if err := o.server.Exports.Build(t.Context(), id, true); err != nil {
			t.Fatalf("%s: %v", export.raw, err)
		}
		zip := call(t, o.handler, "GET", "/api/v1/exports/"+id+"/download", "", "", o.stranger...)
		if zip.status != 200 {
			t.Errorf("its team cannot leave: %d", zip.status)
		}

		if got := call(t, o.handler, "DELETE", path+"/takedown", "", "", o.owner...); got.status != 200 || got.body["frozen"] != nil {
			t.Errorf("lifted: %d %s", got.status, got.raw)
		}
		if got := call(t, o.handler, "GET", path, "", "", o.stranger...); got.body["frozen"] != nil {
			t.Errorf("its team still reads %s", got.raw)
		}
	})
}
