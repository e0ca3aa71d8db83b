package login

import (
	"cmp"
	"context"

	"postern/core/contract"
	"postern/models"
	"postern/service/appclients"
)

// Look is the branding of an app client's hosted pages.
type Look struct {
	contract.Branding
	Unclaimed bool   // the workspace is unclaimed: Branding has nothing but the name of Site
	Site      string // host of the redirect URI, for unclaimed clients; "" if it is not known
	Locales   string // ui_locales of the request that the page belongs to, "" for none
}

// lookOf returns the look of the pages before the redirect to redirectURI, "" if that is
// not known. A client of an unclaimed workspace gets no branding, because anyone can
// create one: it could imitate another site (phishing).
func (s *Service) lookOf(tx *models.Tx, client models.AppClient, redirectURI string) (Look, error) {
	held, err := s.Clients.Held(tx, client)
	if err != nil {
		return Look{}, err
	}
	if !held {
		branding, err := brandingOf(tx, client)
		return Look{Branding: branding}, err
	}
	site := appclients.HostOf(redirectURI)
	return Look{Branding: contract.Branding{Title: site}, Unclaimed: true, Site: site}, nil
}

// nameOf returns the name by which the pages address a user: none in an unclaimed workspace, where anyone may run the
// provider that states it.
func (l Look) nameOf(name string) string {
	if l.Unclaimed {
		return ""
	}
	return name
}

// shownClient returns what lists of sessions and consents call an app client. On the hosted pages of an unclaimed
// workspace that is the site that its users are sent to, as in lookOf.
func shownClient(client models.AppClient, unclaimed bool) string {
	if !unclaimed {
		return cmp.Or(client.Title, client.Name)
	}
	for _, uri := range client.RedirectURIs {
		if host := appclients.HostOf(uri); host != "" {
			return host
		}
	}
	return client.ID
}

// Brand returns the look of an app client's pages. It needs no permission: they are public.
func (s *Service) Brand(ctx context.Context, id string) (Look, error) {
	row, err := s.client(ctx, id)
	if err != nil {
		return Look{}, err
	}
	return s.lookOf(s.DB.Read(ctx), row, "")
}
