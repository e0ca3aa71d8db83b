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

// providerSubjects lists the providers of all app clients. A name is
// <tenant>/<client>/<type>, with the issuer behind it where the type does not imply it.
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
				Name:     strings.TrimSpace(tenant + "/" + c.Name + "/" + one.Type + " " + one.Issuer),
				Source:   At(ProvidersFile(tenant), "/providers/%d", at[tenant]),
			})
			at[tenant]++
		}
	}
	return out
}

// mappingSubjects lists the rules by which claims of a provider put users into groups.
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

// settingSubjects lists what app clients have besides themselves: the addresses that
// browsers return to, and the look of the sign-in page.
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
			of.Feature, of.Source = snapshot.FeatureBranding, At(file, "/clients/%s/title", place)
			branding = append(branding, of)
		}
	}
	return append(redirects, branding...)
}

// The ledger of edition 1 has the only record of app clients and providers in an archive:
// it has no document of them.

// addProvider adds the provider of an item to its app client, whose item stands before it.
func addProvider(clients []snapshot.AppClient, item Item) {
	client, id, _ := strings.Cut(strings.TrimPrefix(item.ID, item.Kind+":"), ":")
	names := strings.SplitN(item.Name, "/", 3)
	for i := range clients {
		if clients[i].ID == client && len(names) == 3 {
			kind, issuer, _ := strings.Cut(names[2], " ")
			clients[i].Providers = append(clients[i].Providers, snapshot.Provider{ID: id, Type: kind, Issuer: issuer})
		}
	}
}

// clientOf returns the app client of an item in the ledger, whose name is
// <tenant>/<client>.
func clientOf(item Item) snapshot.AppClient {
	tenant, name, _ := strings.Cut(item.Name, "/")
	return snapshot.AppClient{
		ID:       strings.TrimPrefix(item.ID, item.Kind+":"),
		TenantID: tenant,
		Name:     name,
		Machine:  strings.HasSuffix(item.Code, "."+MachineLogin.Reason),
	}
}

// ledgerOnly is what no document of an archive has: app clients with their providers, in
// edition 1, and whether the project was in the bin.
type ledgerOnly struct {
	clients []snapshot.AppClient
	deleted bool
}

// add reads an item of the ledger.
func (l *ledgerOnly) add(item Item) {
	switch snapshot.Feature(item.Kind) {
	case snapshot.FeatureBin:
		l.deleted = true
	case snapshot.FeatureHostedLogin:
		l.clients = append(l.clients, clientOf(item))
	case snapshot.FeatureProvider:
		addProvider(l.clients, item)
	}
}
