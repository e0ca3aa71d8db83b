package bundle

import (
	"fmt"
	"strings"

	"postern/core/snapshot"
)

// clientSubjects lists the app clients. A name is <tenant>/<client>.
func (b *Build) clientSubjects() []Subject {
	var out []Subject
	at := map[string]int{} // by tenant: the place of the next one in its file
	for i := range b.Project.Clients {
		c := &b.Project.Clients[i]
		tenant := b.tenantName(c.TenantID)
		out = append(out, Subject{
			Client:  c,
			Feature: snapshot.FeatureHostedLogin,
			ID:      c.ID,
			Name:    tenant + "/" + c.Name,
			Source:  At(IssuersFile(tenant), "/issuers/%d", at[tenant]),
		})
		at[tenant]++
	}
	return out
}

// providerSubjects lists the providers of all app clients. A name is <tenant>/<client>/<label>.
func (b *Build) providerSubjects() []Subject {
	var out []Subject
	at := map[string]int{} // by tenant: the place of the next one in its file
	for i := range b.Project.Clients {
		c := &b.Project.Clients[i]
		tenant := b.tenantName(c.TenantID)
		for j := range c.Providers {
			one := &c.Providers[j]
			out = append(out, Subject{
				Client:   c,
				Provider: one,
				Feature:  snapshot.FeatureProvider,
				ID:       c.ID + ":" + one.ID,
				Name:     tenant + "/" + c.Name + "/" + one.Label(),
				Source:   At(ProvidersFile(tenant), "/providers/%d", at[tenant]),
			})
			at[tenant]++
		}
	}
	return out
}

// mappingSubjects lists the rules by which a provider's claims put users into groups.
func (b *Build) mappingSubjects() []Subject {
	var out []Subject
	for _, of := range b.providerSubjects() {
		if of.Provider.Settings == nil {
			continue
		}
		for n, m := range of.Provider.Settings.Mappings {
			out = append(out, Subject{
				Client:   of.Client,
				Provider: of.Provider,
				Feature:  snapshot.FeatureGroupMapping,
				ID:       fmt.Sprintf("%s:%d", of.Provider.ID, n),
				Name:     m.Text(),
				Source:   At(of.Source.File, "%s/group_mappings/%d", of.Source.Pointer, n),
			})
		}
	}
	return out
}

// settingSubjects lists the settings of app clients that have their own items: redirect URIs, and the branding of the
// sign-in page.
func (b *Build) settingSubjects() []Subject {
	var redirects, branding []Subject
	for _, of := range b.clientSubjects() {
		s := of.Client.Settings
		if s == nil {
			continue
		}
		file, place := ClientsFile(b.tenantName(of.Client.TenantID)), strings.TrimPrefix(of.Source.Pointer, "/issuers/")
		if len(s.RedirectURIs)+len(s.LogoutURIs) > 0 {
			of.Feature, of.Source = snapshot.FeatureRedirects, At(file, "/clients/%s/redirect_uris", place)
			redirects = append(redirects, of)
		}
		if s.Branded() {
			of.Feature, of.Source = snapshot.FeatureBranding, At(file, "/clients/%s/branding", place)
			branding = append(branding, of)
		}
	}
	return append(redirects, branding...)
}
