package appclients

import (
	"fmt"
	"net/url"

	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/service/access"
)

// checkBackchannelClaimed refuses a back-channel URI in an unclaimed workspace: anyone can create one, and
// could have Postern send requests to addresses of their choice.
func (s *Service) checkBackchannelClaimed(tx *models.Tx, row models.AppClient) error {
	if row.BackchannelLogoutURI == "" {
		return nil
	}
	held, err := s.Held(tx, row)
	if err != nil || !held {
		return err
	}
	return fault.InvalidField("/backchannel_logout_uri", "needs_claim",
		"Claim the project first. Postern doesn't send requests to the URLs of an unclaimed project's app clients.")
}

// Held reports whether the restrictions of CapUnclaimed apply to an app client: they do
// until its workspace is claimed.
func (s *Service) Held(tx *models.Tx, client models.AppClient) (bool, error) {
	if !s.CapUnclaimed {
		return false, nil
	}
	_, id, err := access.TenantAndTeam(tx, client.TenantID)
	if err != nil {
		return false, fmt.Errorf("appclients: the team of the app client %s: %w", client.ID, err)
	}
	team, err := tx.TeamServed(id)
	if err != nil {
		return false, fmt.Errorf("appclients: the team of the app client %s: %w", client.ID, err)
	}
	return team.ClaimedAt == nil, nil
}

// HeldByID is Held for a client id.
func (s *Service) HeldByID(tx *models.Tx, clientID string) (bool, error) {
	if !s.CapUnclaimed {
		return false, nil
	}
	client, err := tx.AppClientServed(clientID)
	if err != nil {
		return false, fmt.Errorf("appclients: the app client %s: %w", clientID, access.Missing(err))
	}
	return s.Held(tx, client)
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
		return fault.InvalidField("/issuer", "port_needs_claim", "Unclaimed proxies can use only issuers on ports 80 "+
			"and 443. Sign in to use another port.")
	}
	return nil
}
