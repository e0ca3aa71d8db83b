package login

import (
	"fmt"
	"net/url"

	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
)

// Look is how the pages of an app client look to the people who sign in.
type Look struct {
	Branding
	Unclaimed bool   // nobody answers for the application yet; Branding has the name of Site alone
	Site      string // host that people are sent on to; "" where it is not known, or needs no mention
}

// held tells whether the caps hold for an app client: they do until somebody claims
// the workspace that it is in.
func (s *Service) held(tx *models.Tx, client models.AppClient) (bool, error) {
	if !s.CapUnclaimed {
		return false, nil
	}
	_, id, err := teamOf(tx, client.TenantID)
	if err != nil {
		return false, fmt.Errorf("login: whose the app client %s is: %w", client.ID, err)
	}
	team, err := tx.TeamByID(id)
	if err != nil {
		return false, fmt.Errorf("login: whose the app client %s is: %w", client.ID, err)
	}
	return team.ClaimedAt == nil, nil
}

// heldByID is held for a client that is named by its id.
func (s *Service) heldByID(tx *models.Tx, clientID string) (bool, error) {
	if !s.CapUnclaimed {
		return false, nil
	}
	client, err := tx.AppClientByID(clientID)
	if err != nil {
		return false, fmt.Errorf("login: the app client %s: %w", clientID, notFound(err))
	}
	return s.held(tx, client)
}

// lookOf is how the pages look before a person is sent on to redirectURI, "" where
// that is not known. What anybody in the world can make gets no name, text, logo and
// colour of its maker's choosing, or it would be a page that passes for another's.
func (s *Service) lookOf(tx *models.Tx, client models.AppClient, redirectURI string) (Look, error) {
	held, err := s.held(tx, client)
	if err != nil || !held {
		return Look{Branding: brandingOf(client)}, err
	}
	site := hostOf(redirectURI)
	return Look{Branding: Branding{Title: site}, Unclaimed: true, Site: site}, nil
}

// hostOf is host and port of an address that was checked, "" for none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

// checkPort holds whoever belongs to nobody yet to issuers on web ports, as their
// proxies are held to such targets: no name of theirs scans for open ports.
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
