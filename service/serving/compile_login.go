package serving

import (
	"slices"
	"time"

	"postern/core/snapshot"
	"postern/models"
)

// readLogin reads the app clients of the tenants that a project serves, and the users
// whose tokens it must refuse.
func readLogin(r *projectRows, of models.Project, publicURL string, out *snapshot.Project) (err error) {
	now := models.Now()
	if clients := r.clientsServed(out.ID); len(clients) > 0 {
		keys, providers, err := readOfClients(r.tx, out.ID, now)
		if err != nil {
			return err
		}
		for _, row := range clients {
			out.Clients = append(out.Clients, snapshot.AppClient{
				ID:        row.ID,
				Name:      row.Name,
				Issuer:    snapshot.IssuerOf(publicURL, row.ID),
				TenantID:  row.TenantID,
				Keys:      keys[row.ID],
				Providers: providers[row.ID],
				Machine:   slices.Contains(row.GrantTypes, snapshot.ClientCredentials),
				Frozen:    row.FrozenAt != nil,
			})
		}
	}
	if out.EndedSessions, err = readEndedSessions(r, out, now); err != nil || !r.mayBar(of) {
		return err
	}
	barred, err := r.tx.BarredUsers(out.ID, now, now.Add(-snapshot.BarredFor))
	if err != nil {
		return err
	}
	for _, row := range barred {
		out.Barred = append(out.Barred, snapshot.BarredUser(row))
	}
	left, err := r.tx.GroupsLeftSince(out.ID, now.Add(-snapshot.BarredFor))
	if err != nil {
		return err
	}
	for _, row := range left {
		out.GroupsLeft = append(out.GroupsLeft, snapshot.GroupsLeft{User: row.ID, At: row.At.Unix()})
	}
	return nil
}

func readEndedSessions(r *projectRows, out *snapshot.Project, now time.Time) ([]string, error) {
	if len(out.Clients) == 0 {
		return nil, nil
	}
	return r.tx.BarredSessions(out.ID, now)
}

// readOfClients reads the signing keys and the providers of each app client, by its id.
func readOfClients(
	tx *models.Tx, projectID string, now time.Time,
) (map[string][]snapshot.SigningKey, map[string][]snapshot.Provider, error) {
	keys, providers := map[string][]snapshot.SigningKey{}, map[string][]snapshot.Provider{}
	keyRows, err := tx.SigningKeysServed(projectID, now)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range keyRows {
		key := snapshot.SigningKey{ID: row.ID, Algorithm: row.Algorithm, JWK: row.PublicJWK}
		if row.ExpiresAt != nil {
			key.ExpiresAt = row.ExpiresAt.UTC()
		}
		keys[row.ClientID] = append(keys[row.ClientID], key)
	}
	rows, err := tx.ProvidersServed(projectID)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		providers[row.AppClientID] = append(providers[row.AppClientID], snapshot.Provider{
			ID:            row.ID,
			Type:          row.Type,
			ClientID:      row.ClientID,
			Issuer:        row.Issuer,
			Enabled:       row.Enabled,
			ClientToken:   snapshot.TokenType(row.ClientToken),
			UpstreamToken: snapshot.TokenType(row.UpstreamToken),
		})
	}
	return keys, providers, nil
}
