package appclients

import (
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// SignInsToday counts the users who signed in through an app client since midnight, UTC.
func (s *Service) SignInsToday(ctx context.Context, p access.Principal, client string) (int64, error) {
	tx := s.DB.Read(ctx)
	row, _, _, err := Find(tx, p, client, access.LoginRead)
	var n int64
	if err == nil {
		n, err = tx.CountSignIns(row.ID, "", today())
	}
	if err != nil {
		return 0, fmt.Errorf("appclients: sign-ins at app client %s: %w", client, err)
	}
	return n, nil
}

// SignInsWithToday counts those of SignInsToday who signed in with a provider.
func (s *Service) SignInsWithToday(ctx context.Context, p access.Principal, provider string) (int64, error) {
	tx := s.DB.Read(ctx)
	row, _, _, err := findProvider(tx, p, provider, access.LoginRead)
	var n int64
	if err == nil {
		n, err = tx.CountSignIns(row.AppClientID, row.ID, today())
	}
	if err != nil {
		return 0, fmt.Errorf("appclients: sign-ins with provider %s: %w", provider, err)
	}
	return n, nil
}

func today() time.Time { return models.Now().Truncate(24 * time.Hour) }
