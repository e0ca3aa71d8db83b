package login

import (
	"fmt"
	"net/url"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
)

// Look is what the hosted pages of an app client show.
type Look struct {
	contract.Branding
	Unclaimed bool   // the workspace is unclaimed: Branding has nothing but the name of Site
	Site      string // host of the redirect URI, for unclaimed clients; "" if it is not known
	Locales   string // ui_locales of the request that the page belongs to, "" for none
}

// held reports whether the restrictions of CapUnclaimed apply to an app client: they do
// until its workspace is claimed.
func (s *Service) held(tx *models.Tx, client models.AppClient) (bool, error) {
	if !s.CapUnclaimed {
		return false, nil
	}
	_, id, err := teamOf(tx, client.TenantID)
	if err != nil {
		return false, fmt.Errorf("login: the team of the app client %s: %w", client.ID, err)
	}
	team, err := tx.TeamServed(id)
	if err != nil {
		return false, fmt.Errorf("login: the team of the app client %s: %w", client.ID, err)
	}
	return team.ClaimedAt == nil, nil
}

// heldByID is held for a client id.
func (s *Service) heldByID(tx *models.Tx, clientID string) (bool, error) {
	if !s.CapUnclaimed {
		return false, nil
	}
	client, err := tx.AppClientServed(clientID)
	if err != nil {
		return false, fmt.Errorf("login: the app client %s: %w", clientID, notFound(err))
	}
	return s.held(tx, client)
}

// lookOf returns the look of the pages before the redirect to redirectURI, "" if that is
// not known. A client of an unclaimed workspace gets no branding, because anyone can
// create one: it could imitate another site (phishing).
func (s *Service) lookOf(tx *models.Tx, client models.AppClient, redirectURI string) (Look, error) {
	held, err := s.held(tx, client)
	if err != nil {
		return Look{}, err
	}
	if !held {
		branding, err := brandingOf(tx, client)
		return Look{Branding: branding}, err
	}
	site := hostOf(redirectURI)
	return Look{Branding: contract.Branding{Title: site}, Unclaimed: true, Site: site}, nil
}

// shownLabel returns what the hosted pages call a provider. In an unclaimed workspace that is the host of an issuer
// that anyone may have set up, whatever its label says: a button "Google" could lead anywhere.
func shownLabel(row models.Provider, unclaimed bool) string {
	if unclaimed {
		row.Label = ""
	}
	return labelOf(row)
}

// checkPort restricts unclaimed workspaces to issuers on web ports, as their projects are
// restricted to such upstreams: they cannot be used to scan ports.
func (s *Service) checkPort(issuer string, unclaimed bool) error {
	if !unclaimed || !s.CapUnclaimed {
		return nil
	}
	return checkWebPort(issuer)
}

func checkWebPort(issuer string) error {
	if issuer == "" {
		return nil
	}
	if u, err := url.Parse(issuer); err != nil || !egress.IsWebPort(u) {
		return fault.InvalidField("/issuer", "port_needs_claim", "Until it is claimed, a proxy asks issuers on ports "+
			"80 and 443 only. Sign in to use another port.")
	}
	return nil
}
