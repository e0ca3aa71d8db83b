package serving

import (
	"encoding/json"
	"errors"
	"fmt"

	"postern/core/openapi"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
)

// readRoutes adds the paths of the OpenAPI documents, as many as the gateway tells apart.
func readRoutes(r *projectRows, _ models.Project, out *snapshot.Project) error {
	summaries := r.summaries
	for i := range out.Versions {
		v := &out.Versions[i]
		if summaries[v.ID] == "" {
			continue
		}
		var of openapi.Summary
		if err := json.Unmarshal([]byte(summaries[v.ID]), &of); err != nil {
			return fmt.Errorf("OpenAPI document of %s: %w", v.ID, err)
		}
		for _, op := range of.Operations { // by path
			if n := len(v.Routes); n < policy.MaxRoutes && (n == 0 || v.Routes[n-1] != op.Path) {
				v.Routes = append(v.Routes, op.Path)
			}
		}
	}
	return nil
}

// readServedDocuments adds the OpenAPI documents that gateways use.
func readServedDocuments(r *projectRows, _ models.Project, out *snapshot.Project) error {
	return readDocuments(r.tx, out, func(v *snapshot.Version) bool {
		return v.Validation != snapshot.ValidationOff || v.Publication != snapshot.PublicationOff
	})
}

// readDocuments adds the OpenAPI documents of the versions that need them.
func readDocuments(tx *models.Tx, out *snapshot.Project, needs func(*snapshot.Version) bool) error {
	for i := range out.Versions {
		if !needs(&out.Versions[i]) {
			continue
		}
		row, err := tx.OpenAPIOf(out.Versions[i].ID)
		if errors.Is(err, models.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("serving: OpenAPI document of %s: %w", out.Versions[i].ID, err)
		}
		out.Versions[i].OpenAPI = row.Document
	}
	return nil
}
