package kong

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/snapshot"
)

// The plugin finds the groups of an owner of keys, a user or an app, by the owner's tenant: apps of two tenants can
// have one name.
func TestMembers(t *testing.T) {
	rules := snapshot.Rules{Default: "deny", List: []snapshot.Rule{ruleOf("rul_1", "/staff", "staff")}}
	for name, tt := range map[string]struct {
		rules   snapshot.Rules
		options bundle.Options
		want    map[string]memberDoc
	}{
		"apps and users": {rules, bundle.Options{Consumers: true}, map[string]memberDoc{
			"tnt_1/billing: \"eu\"": {Groups: []string{"staff"}},
			"tnt_2/billing: \"eu\"": {Groups: []string{"ops", "staff"}, Admin: []string{"ops"}},
			"tnt_1/usr_1":           {Groups: []string{"staff"}},
		}},
		"without rules": {snapshot.Rules{}, bundle.Options{Consumers: true}, nil},
		"without keys":  {rules, bundle.Options{Consumers: true, Keys: bundle.KeysNone}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			in.Options = tt.options
			in.Options.Format = bundle.FormatGateway
			for i := range in.Project.Versions {
				in.Project.Versions[i].Rules = snapshot.Rules{}
			}
			in.Project.Versions[0].Rules = tt.rules
			in.Project.Members = []snapshot.Member{
				{User: "billing: \"eu\"", TenantID: "tnt_1", In: []string{"staff"}},
				{User: "billing: \"eu\"", TenantID: "tnt_2", In: []string{"ops", "staff"}, Admin: []string{"ops"}},
				{User: "usr_1", TenantID: "tnt_1", In: []string{"staff"}},
			}
			var doc struct {
				Plugins []struct {
					Config struct{ Members map[string]memberDoc }
				}
			}
			if err := json.Unmarshal([]byte(write(t, in)[gatewayFile]), &doc); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, doc.Plugins[0].Config.Members); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}
