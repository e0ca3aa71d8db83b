package appclients

import (
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// ServedClient is an app client as a list shows it.
type ServedClient struct {
	contract.AppClient
	TenantName string
	Providers  []ServedProvider // enabled ones
}

// ServedProvider is a provider as a list shows it.
type ServedProvider struct{ ID, Type, Label string }

// Served lists the app clients of all tenants that a project serves, oldest first.
func (s *Service) Served(
	ctx context.Context, p access.Principal, project string, page models.Page,
) (models.List[ServedClient], error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.LoginRead)
	if err != nil {
		return models.List[ServedClient]{}, fmt.Errorf("appclients: app clients of %s: %w", project, err)
	}
	rows, err := tx.AppClientsOfProject(row.ID, page)
	if err != nil {
		return models.List[ServedClient]{}, fmt.Errorf("appclients: app clients of %s: %w", project, err)
	}
	clients, err := s.withProviders(tx, rows.Items)
	if err != nil {
		return models.List[ServedClient]{}, fmt.Errorf("appclients: app clients of %s: %w", project, err)
	}
	return models.List[ServedClient]{Items: clients, Next: rows.Next, Total: rows.Total}, nil
}

func (s *Service) withProviders(tx *models.Tx, found []models.AppClient) ([]ServedClient, error) {
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
	providers := map[string][]ServedProvider{}
	for _, row := range rows {
		if row.Enabled {
			option := ServedProvider{ID: row.ID, Type: row.Type, Label: Label(row)}
			providers[row.AppClientID] = append(providers[row.AppClientID], option)
		}
	}
	list := make([]ServedClient, 0, len(found))
	for _, row := range found {
		list = append(list, ServedClient{
			AppClient:  s.Shown(row),
			TenantName: names[row.TenantID],
			Providers:  providers[row.ID],
		})
	}
	return list, nil
}
