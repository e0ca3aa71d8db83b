package bundle

import (
	"encoding/hex"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
)

// clientsDoc has the settings of the app clients of a tenant.
type clientsDoc struct {
	Clients []clientDoc `json:"clients"`
}

// clientDoc is an app client in the form of the API, with the digest of its secret.
type clientDoc struct {
	contract.AppClientRecord
	SecretSHA256 *string `json:"secret_sha256"`
}

// ClientsFile returns the name of the file with the settings of a tenant's app clients.
func ClientsFile(tenant string) string { return tenantFolder(tenant) + "auth/clients.json" }

func clientsDocOf(clients []snapshot.AppClient) clientsDoc {
	doc := clientsDoc{Clients: []clientDoc{}}
	for _, c := range clients {
		s := c.Settings
		if s == nil {
			s = &snapshot.ClientSettings{}
		}
		one := clientDoc{AppClientRecord: contract.AppClientRecord{
			ID:                   c.ID,
			Name:                 c.Name,
			GrantTypes:           list(s.GrantTypes),
			RedirectURIs:         list(s.RedirectURIs),
			LogoutURIs:           list(s.LogoutURIs),
			BackchannelLogoutURI: s.BackchannelLogoutURI,
			APIScopes:            list(s.APIScopes),
			PKCE:                 s.PKCE,
			AccessTokenSeconds:   int64(s.AccessFor / time.Second),
			RefreshTokenSeconds:  int64(s.RefreshFor / time.Second),
			Algorithm:            s.Algorithm,
			Branding:             s.Branding,
			CreatedAt:            s.CreatedAt.UTC(),
		}}
		if s.SecretHash != nil {
			one.SecretSHA256 = optional(hex.EncodeToString(s.SecretHash))
		}
		doc.Clients = append(doc.Clients, one)
	}
	return doc
}

// settings returns the settings that a document describes.
func (d clientDoc) settings() (*snapshot.ClientSettings, error) {
	in := reading{}
	s := &snapshot.ClientSettings{
		GrantTypes:           d.GrantTypes,
		RedirectURIs:         d.RedirectURIs,
		LogoutURIs:           d.LogoutURIs,
		BackchannelLogoutURI: d.BackchannelLogoutURI,
		APIScopes:            d.APIScopes,
		PKCE:                 d.PKCE,
		AccessFor:            time.Duration(d.AccessTokenSeconds) * time.Second,
		RefreshFor:           time.Duration(d.RefreshTokenSeconds) * time.Second,
		Algorithm:            d.Algorithm,
		Branding:             d.Branding,
		CreatedAt:            d.CreatedAt,
	}
	if hash := in.hash(d.SecretSHA256); hash != nil {
		s.SecretHash = hash[:]
	}
	return s, in.err
}

// readClients adds the settings in a tenant's file to its app clients.
func (v *verifier) readClients(clients []snapshot.AppClient, t snapshot.Tenant) error {
	name := ClientsFile(t.Name)
	if _, have := v.files[name]; !have {
		return nil
	}
	doc, err := decodeWhole[clientsDoc](v, name)
	if err != nil {
		return err
	}
	if len(doc.Clients) != len(clients) {
		return problem(name, "it doesn't have the same app clients as %s", IssuersFile(t.Name))
	}
	for i, one := range doc.Clients {
		if one.ID != clients[i].ID {
			return problem(name, "it doesn't have the same app clients as %s", IssuersFile(t.Name))
		}
		if clients[i].Settings, err = one.settings(); err != nil {
			return problem(name, "%s", fmt.Errorf("app client %s: %w", one.ID, err))
		}
	}
	return nil
}
