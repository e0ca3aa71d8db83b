package webhooks

import (
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// DeliveredLastDay counts a webhook's deliveries in the last 24 hours, including pending ones.
func (s *Service) DeliveredLastDay(ctx context.Context, p access.Principal, id string) (int64, error) {
	tx := s.DB.Read(ctx)
	row, err := find(tx, p, id, access.WebhookRead)
	var n int64
	if err == nil {
		n, err = tx.CountDeliveries(row.ID, models.Now().Add(-24*time.Hour))
	}
	if err != nil {
		return 0, fmt.Errorf("webhooks: deliveries of %s: %w", id, err)
	}
	return n, nil
}
