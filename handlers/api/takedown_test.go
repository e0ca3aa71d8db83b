package api_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/service/serving"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// An operator takes another team's project down. Its team reads why, can take it
// away as a zip that says nothing of it, and cannot lift it.
func TestTakedown_operatorsOnly(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		path := "/api/v1/projects/" + o.OutsiderObjects.Project
		got := controlplane.Call(t, o.Handler, "PUT", path+"/takedown", "", `{"reason":" "}`, o.Owner...)
		if got.Status != 422 || got.Pointers()[0] != "/reason" {
			t.Errorf("no reason: %d %s", got.Status, got.Raw)
		}
		got = controlplane.Call(t, o.Handler, "PUT", path+"/takedown", "", `{"reason":"Phishing"}`, o.Outsider...)
		if got.Status != 404 {
			t.Errorf("its own team takes it down: %d", got.Status)
		}
		got = controlplane.Call(t, o.Handler, "PUT", path+"/takedown", "", `{"reason":"Phishing"}`, o.Owner...)
		if got.Status != 200 || strings.Contains(got.Raw, "target") {
			t.Fatalf("the operator: %d %s", got.Status, got.Raw)
		}
		err := db.Consistent(t.Context(), func(tx *models.Tx) error {
			compiled, err := serving.Compile(tx, o.OutsiderObjects.Project, o.Server.Config.PublicURL)
			if err == nil && !compiled.TakenDown {
				t.Error("the gateway does not learn of it")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got = controlplane.Call(t, o.Handler, "GET", path, "", "", o.Outsider...)
		if frozen, _ := got.Body["frozen"].(map[string]any); frozen["reason"] != "Phishing" || frozen["since"] == "" {
			t.Errorf("its team reads %s", got.Raw)
		}
		page := controlplane.Call(
			t,
			o.Handler,
			"GET",
			"/projects/"+o.OutsiderObjects.ProjectName,
			"",
			"",
			append([]string{"Accept", "text/html"}, o.Outsider...)...)
		if !strings.Contains(page.Raw, "Reason: Phishing") {
			t.Error("the dashboard does not say why")
		}
		log := controlplane.Call(
			t,
			o.Handler,
			"GET",
			"/audit",
			"",
			"",
			append([]string{"Accept", "text/html"}, o.Outsider...)...)
		if !strings.Contains(log.Raw, "took down the project &#34;theirs&#34;") ||
			!strings.Contains(log.Raw, "An operator") {
			t.Error("the audit log does not say so")
		}
		if entries := o.InstallationAudit(t); entries[0].Action != "project.takedown" {
			t.Errorf("the operators' own log begins with %+v", entries[0])
		}
		got = controlplane.Call(t, o.Handler, "DELETE", path+"/takedown", "", "", o.Outsider...)
		if got.Status != 404 {
			t.Errorf("its own team lifts it: %d", got.Status)
		}

		export := controlplane.Call(t, o.Handler, "POST", path+"/exports", "", `{"format":"gateway"}`, o.Outsider...)
		id, _ := export.Body["id"].(string)
		if err := o.Server.Exports.Build(t.Context(), id, true); err != nil {
			t.Fatalf("%s: %v", export.Raw, err)
		}
		zip := controlplane.Call(t, o.Handler, "GET", "/api/v1/exports/"+id+"/download", "", "", o.Outsider...)
		if zip.Status != 200 {
			t.Errorf("its team cannot leave: %d", zip.Status)
		}

		if got := controlplane.Call(t, o.Handler, "DELETE", path+"/takedown", "", "", o.Owner...); got.Status != 200 ||
			got.Body["frozen"] != nil {
			t.Errorf("lifted: %d %s", got.Status, got.Raw)
		}
		if got := controlplane.Call(t, o.Handler, "GET", path, "", "", o.Outsider...); got.Body["frozen"] != nil {
			t.Errorf("its team still reads %s", got.Raw)
		}
	})
}
