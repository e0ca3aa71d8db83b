package login

import (
	"context"
	"fmt"

	"postern/models"
	"postern/service/access"
)

// MaxPage is the most app clients that one page of Served holds.
const MaxPage = 100

// ServedClient is an app client with what tells it apart in a list.
type ServedClient struct {
	Client
	TenantName string
	Offers     []Offer // that people see
}

// Served lists the app clients of all tenants that a project serves, oldest first.
// The cursor is the next of the page before, limit at most MaxPage.
func (s *Service) Served(
	ctx context.Context, p access.Principal, project, cursor string, limit int,
) (list []ServedClient, next string, err error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.LoginRead)
	if err != nil {
		return nil, "", fmt.Errorf("login: app clients of %s: %w", project, err)
	}
	limit = min(limit, MaxPage)
	found, err := tx.AppClientsOfProject(row.ID, cursor, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("login: app clients of %s: %w", project, err)
	}
	if len(found) > limit {
		found, next = found[:limit], found[limit-1].ID
	}
	if list, err = withOffers(tx, found); err != nil {
		return nil, "", fmt.Errorf("login: app clients of %s: %w", project, err)
	}
	return list, next, nil
}

func withOffers(tx *models.Tx, found []models.AppClient) ([]ServedClient, error) {
	var ids, tenants []string
	for _, row := range found {
		ids, tenants = append(ids, row.ID), append(tenants, row.TenantID)
	}
	names, err := tx.TenantNames(tenants)
	if err != nil {
		return nil, err
	}
	rows, err := tx.ProvidersOfAll(ids)
	if err != nil {
		return nil, err
	}
	offers := map[string][]Offer{}
	for _, row := range rows {
		if row.Enabled {
			offers[row.ClientID] = append(offers[row.ClientID], Offer{ID: row.ID, Type: row.Type, Label: labelOf(row)})
		}
	}
	list := make([]ServedClient, 0, len(found))
	for _, row := range found {
		list = append(list, ServedClient{
			Client:     viewClient(row),
			TenantName: names[row.TenantID],
			Offers:     offers[row.ID],
		})
	}
	return list, nil
}

// ProviderLabel is what the button of a provider says behind Continue with.
func ProviderLabel(p Provider) string {
	return labelOf(models.Provider{Type: p.Type, Issuer: p.Issuer})
}
