package targets_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// TestPreview_configured adds things to a new project. What the team configured counts, on every target; what is
// generated, or belongs to the team's other projects too, doesn't.
func TestPreview_configured(t *testing.T) {
	people := func(of snapshot.Directory) func(*snapshot.Project) {
		return func(p *snapshot.Project) { p.Tenants[0].Directory = &of }
	}
	for name, tt := range map[string]struct {
		add  func(*snapshot.Project)
		kind snapshot.Feature
		want []bool // whether each item of the kind is configured
	}{
		"generated routes": {func(*snapshot.Project) {}, snapshot.FeatureRoute, []bool{false, false}},
		"no custom domain": {func(*snapshot.Project) {}, snapshot.FeatureCustomDomains, []bool{false}},
		"a custom domain": {func(p *snapshot.Project) {
			p.Versions[0].Environments[0].Domains = []snapshot.Domain{{
				DomainAddress: contract.DomainAddress{Host: "api.example.com"},
			}}
		}, snapshot.FeatureCustomDomains, []bool{true}},
		"no users":              {people(snapshot.Directory{InviteOnly: true}), snapshot.FeatureUsers, []bool{false}},
		"users":                 {people(snapshot.Directory{Users: 2}), snapshot.FeatureUsers, []bool{true}},
		"users without consent": {people(snapshot.Directory{Users: 2}), snapshot.FeatureConsents, nil},
		"a consent": {
			people(snapshot.Directory{Users: 2, Consents: 1}), snapshot.FeatureConsents, []bool{true},
		},
		"the team's webhooks": {func(p *snapshot.Project) {
			p.Webhooks = []snapshot.Webhook{{ID: "whk_1", Host: "a.example"}, {ID: "whk_2", Host: "b.example"}}
		}, snapshot.FeatureWebhook, []bool{false, false}},
	} {
		for _, target := range targets.All() {
			t.Run(name+"/"+target.Name, func(t *testing.T) {
				project, keys := sample.Fresh("https://up.example", sample.RequiresKeys())
				tt.add(project)
				found, err := bundle.Preview(t.Context(), bundle.Input{
					Project: project, Users: sample.Users(nil), Keys: sample.Stream(keys), Target: target,
					Options:   bundle.Options{Format: target.Format, Keys: bundle.KeysHashes, Consumers: true},
					AddressOf: sample.AddressOf,
				}, 10)
				if err != nil {
					t.Fatal(err)
				}
				var got []bool
				for _, line := range found.Lines {
					if line.Kind == string(tt.kind) {
						got = append(got, slices.Repeat([]bool{line.Configured}, int(line.Count))...)
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("configured (-want +got):\n%s", diff)
				}
			})
		}
	}
}
