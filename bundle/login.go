package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
)

// refusedFile lists the users and sessions whose tokens are refused.
const refusedFile = "auth/refused.json"

// issuersDoc has the app clients of a tenant as token issuers: the data with which a gateway verifies the tokens that
// they have issued.
type issuersDoc struct {
	Issuers []issuerDoc `json:"issuers"`
}

type issuerDoc struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Issuer  string       `json:"issuer"`
	Machine bool         `json:"machine"`
	Frozen  bool         `json:"frozen"`
	Keys    []signingKey `json:"keys"`
}

type signingKey struct {
	ID        string          `json:"kid"`
	Algorithm string          `json:"alg"`
	ExpiresAt *string         `json:"expires_at"`
	JWK       json.RawMessage `json:"jwk"`
}

type refusedDoc struct {
	Users    []refusedUser `json:"users"`
	Sessions []string      `json:"sessions"`
	Left     []leftUser    `json:"groups_left,omitempty"`
}

// leftUser is a user whose tokens, if issued up to a given second, name a group that they have left.
type leftUser struct {
	User string `json:"id"`
	At   int64  `json:"at"` // in seconds since 1970
}

type refusedUser struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

// IssuersFile returns the name of the file with a tenant's issuers.
func IssuersFile(tenant string) string { return tenantFolder(tenant) + "auth/issuers.json" }

// login returns the files about hosted login; none if the project has no app clients.
func (b *Build) login() []Part {
	if len(b.Project.Clients) == 0 {
		return nil
	}
	p := b.Project
	parts := []Part{document(refusedFile, refusedFileDoc, refusedDocOf(p))}
	for _, t := range p.Tenants {
		clients := clientsOf(p, t.ID)
		if len(clients) == 0 {
			continue
		}
		parts = append(parts,
			document(ClientsFile(t.Name), clientsFileDoc, clientsDocOf(clients)),
			document(IssuersFile(t.Name), issuersFileDoc, issuersDocOf(clients)))
		if providers := providersDocOf(clients); len(providers.Providers) > 0 {
			parts = append(parts, document(ProvidersFile(t.Name), providersFileDoc, providers))
		}
	}
	return parts
}

func document(name, doc string, of any) Part {
	return Part{Name: name, Doc: doc, Write: func(_ context.Context, w io.Writer) error {
		return jsonfile.Write(w, of)
	}}
}

func clientsOf(p *snapshot.Project, tenantID string) []snapshot.AppClient {
	var out []snapshot.AppClient
	for _, c := range p.Clients {
		if c.TenantID == tenantID {
			out = append(out, c)
		}
	}
	return out
}

func issuersDocOf(clients []snapshot.AppClient) issuersDoc {
	doc := issuersDoc{Issuers: []issuerDoc{}}
	for _, c := range clients {
		one := issuerDoc{c.ID, c.Name, c.Issuer, c.Machine, c.Frozen, []signingKey{}}
		for _, k := range c.Keys {
			key := signingKey{k.ID, k.Algorithm, optionalTime(k.ExpiresAt), json.RawMessage(k.JWK)}
			one.Keys = append(one.Keys, key)
		}
		doc.Issuers = append(doc.Issuers, one)
	}
	return doc
}

func refusedDocOf(p *snapshot.Project) refusedDoc {
	doc := refusedDoc{Users: []refusedUser{}, Sessions: list(p.EndedSessions)}
	for _, user := range p.Barred {
		doc.Users = append(doc.Users, refusedUser(user))
	}
	for _, one := range p.GroupsLeft {
		doc.Left = append(doc.Left, leftUser(one))
	}
	return doc
}

// readLogin adds the contents of the files about hosted login to a project.
func (v *verifier) readLogin(p *snapshot.Project) error {
	if _, have := v.files[refusedFile]; !have {
		return nil
	}
	refused, err := decodeWhole[refusedDoc](v, refusedFile)
	if err != nil {
		return err
	}
	for _, user := range refused.Users {
		p.Barred = append(p.Barred, snapshot.BarredUser(user))
	}
	p.EndedSessions = refused.Sessions
	for _, one := range refused.Left {
		p.GroupsLeft = append(p.GroupsLeft, snapshot.GroupsLeft(one))
	}
	for _, t := range p.Tenants {
		if err := v.readIssuers(p, t); err != nil {
			return err
		}
	}
	slices.SortFunc(p.Clients, func(a, b snapshot.AppClient) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

// readIssuers adds the app clients of a tenant to the project.
func (v *verifier) readIssuers(p *snapshot.Project, t snapshot.Tenant) error {
	name := IssuersFile(t.Name)
	if _, have := v.files[name]; !have {
		return nil
	}
	issuers, err := decodeWhole[issuersDoc](v, name)
	if err != nil {
		return err
	}
	var providers providersDoc
	if _, have := v.files[ProvidersFile(t.Name)]; have {
		if providers, err = decodeWhole[providersDoc](v, ProvidersFile(t.Name)); err != nil {
			return err
		}
	}
	first := len(p.Clients)
	for _, one := range issuers.Issuers {
		client, err := one.client(t.ID, providers)
		if err != nil {
			return problem(name, "%s", err)
		}
		p.Clients = append(p.Clients, client)
	}
	return v.readClients(p.Clients[first:], t)
}

// client returns the app client that a document describes.
func (d issuerDoc) client(tenantID string, providers providersDoc) (snapshot.AppClient, error) {
	in := reading{}
	c := snapshot.AppClient{
		ID: d.ID, Name: d.Name, Issuer: d.Issuer, TenantID: tenantID, Machine: d.Machine, Frozen: d.Frozen,
	}
	for _, k := range d.Keys {
		var jwk bytes.Buffer
		if err := json.Compact(&jwk, k.JWK); err != nil {
			return c, fmt.Errorf("key %s: %w", k.ID, err)
		}
		c.Keys = append(c.Keys, snapshot.SigningKey{
			ID: k.ID, Algorithm: k.Algorithm, JWK: jwk.String(), ExpiresAt: in.moment(k.ExpiresAt),
		})
	}
	for _, one := range providers.Providers {
		if one.AppClient == d.ID {
			c.Providers = append(c.Providers, one.provider())
		}
	}
	return c, in.err
}
