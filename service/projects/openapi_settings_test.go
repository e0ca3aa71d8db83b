package projects_test

import (
	"errors"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

// While no place is free to read a document, nothing changes, and the caller learns when to retry. Facts about the
// stored document need no place.
func TestSetOpenAPI_busy(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, owner := w.create(t, authenticated)
		version := versionPath(created.Project.ID, "1.0.0")
		document := []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/o":{"post":{` +
			`"parameters":[{"name":"c","in":"cookie","schema":{}}]}}}}`)
		_, err := w.SetOpenAPI(t.Context(), owner, contract.OpenAPIUpdate{VersionPath: version, RawBody: document})
		if err != nil {
			t.Fatal(err)
		}
		row, err := db.Read(t.Context()).OpenAPISummaryOf(created.Project.Versions[0].ID)
		if err != nil || row.Steps < 10 || row.Memory < 100 {
			t.Errorf("%d steps and %d bytes, %v: the row has what the document takes", row.Steps, row.Memory, err)
		}
		leave := w.FillDocumentPlaces()
		other := contract.OpenAPIUpdate{
			VersionPath: version,
			RawBody:     []byte(`{"openapi":"3.1.0","info":{"title":"u","version":"1"},"paths":{}}`),
		}
		_, err = w.SetOpenAPI(t.Context(), owner, other)
		if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != "busy" || refused.Wait <= 0 {
			t.Errorf("%v, want that it is busy and a time to wait", err)
		}
		got, err := w.SetOpenAPISettings(t.Context(), owner, contract.OpenAPISettingsUpdate{
			VersionPath: version, Body: contract.OpenAPISettings{Validation: contract.ValidationEnforce},
		})
		if err != nil || got.Validation != contract.ValidationEnforce || len(got.Unchecked) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := w.OpenAPISettings(t.Context(), owner, version); err != nil || len(got.Unchecked) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := w.OpenAPI(t.Context(), owner, version); err != nil || got.Title != "t" {
			t.Errorf("%+v, %v: it was saved", got, err)
		}
		leave()
		if _, err = w.SetOpenAPI(t.Context(), owner, other); err != nil {
			t.Error(err)
		}
	})
}
