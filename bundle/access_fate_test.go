package bundle_test

import (
	"encoding/json"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
)

// The access policy isn't exported completely if the project's app clients issue tokens.
func TestAccessPolicy_withLogin(t *testing.T) {
	for name, tt := range map[string]struct {
		methods []string
		clients bool
		code    string
		status  bundle.Status
	}{
		"keys": {
			[]string{snapshot.APIKey}, false, "data.access_policy.document", bundle.Exact,
		},
		"keys with a login": {
			[]string{snapshot.APIKey}, true, "data.access_policy.document", bundle.Exact,
		},
		"tokens of other issuers": {
			[]string{snapshot.JWT}, false, "data.access_policy.document", bundle.Exact,
		},
		"tokens of the app client": {
			[]string{snapshot.JWT}, true, "data.access_policy.with_login", bundle.Lossy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			in.Project.Versions = in.Project.Versions[:1]
			in.Project.Versions[0].Access = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode:    snapshot.Authenticate,
				Methods: tt.methods,
				Keyless: snapshot.Reject,
			}}
			in.Project.Clients = nil
			if tt.clients {
				client := fullClient()
				client.TenantID = in.Project.Tenants[0].ID
				in.Project.Clients = []snapshot.AppClient{client}
			}
			data, _ := write(t, in)
			_, files := unzip(t, data)
			var ledger struct{ Items []bundle.Item }
			if err := json.Unmarshal([]byte(files["MIGRATION-REPORT.json"]), &ledger); err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, item := range ledger.Items {
				if item.Kind != string(snapshot.FeatureAccess) {
					continue
				}
				seen++
				if item.Code != tt.code || item.Status != tt.status {
					t.Errorf("got %s, %s, want %s, %s", item.Code, item.Status, tt.code, tt.status)
				}
			}
			if seen != 1 {
				t.Errorf("%d items of access policies", seen)
			}
		})
	}
}
