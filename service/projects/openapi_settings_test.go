package projects_test

import (
	"errors"
	"testing"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/projects"
	"postern/testkit/state"
)

// While no place is free to read the document, nothing changes, and the caller learns when to retry.
func TestSetOpenAPISettings_busy(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		id := created.Project.ID
		document := []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/o":{"post":{` +
			`"parameters":[{"name":"c","in":"cookie","schema":{}}]}}}}`)
		_, _, err := w.SetOpenAPI(t.Context(), owner, id, "1.0.0", projects.OpenAPIInput{Document: document})
		if err != nil {
			t.Fatal(err)
		}
		leave := w.FillDocumentPlaces()
		change := projects.OpenAPISettings{Validation: snapshot.ValidationEnforce}
		_, err = w.SetOpenAPISettings(t.Context(), owner, id, "1.0.0", "", change)
		if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != "busy" || refused.Wait <= 0 {
			t.Errorf("%v, want that it is busy and a time to wait", err)
		}
		leave()
		if got, err := w.OpenAPISettings(t.Context(), owner, id, "1.0.0"); err != nil || got.Validation != "" {
			t.Errorf("%+v, %v: it was saved", got, err)
		}
		got, err := w.SetOpenAPISettings(t.Context(), owner, id, "1.0.0", "", change)
		if err != nil || got.Validation != change.Validation || len(got.Unchecked) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
