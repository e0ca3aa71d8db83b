package webhooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// Limits of a team's webhooks.
const (
	maxWebhooks    = 50
	maxURL         = 2048 // bytes
	maxDescription = 200
)

// How long the old secret signs too after a rotation: by default and at most.
const (
	DefaultOverlap = 24 * time.Hour
	maxOverlap     = 30 * 24 * time.Hour
)

// Create creates a webhook and returns it with its signing secret, which cannot be read again. Without a team it is the
// principal's home team's, and without events it is sent all.
func (s *Service) Create(
	ctx context.Context, p access.Principal, request contract.WebhookCreation,
) (contract.WebhookWithSecret, error) {
	in := request.Body
	var none contract.WebhookWithSecret
	if in.Team == "" {
		in.Team = p.HomeTeam
	}
	if err := access.Check(p, in.Team, access.WebhookChange); err != nil {
		return none, fmt.Errorf("webhooks: create: %w", err)
	}
	if len(in.Events) == 0 {
		in.Events = contract.WebhookEvents()
	}
	now := models.Now()
	row := models.Webhook{
		ID:          models.NewID("whk"),
		TeamID:      in.Team,
		Description: in.Description,
		Events:      in.Events,
		Enabled:     true,
		CreatedAt:   now,
		UpdatedAt:   now,
	}
	var err error
	if row.URL, err = s.check(ctx, &in.URL, row); err != nil {
		return none, fmt.Errorf("webhooks: create: %w", err)
	}
	secret := newSecret()
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if n, err := tx.CountWebhooks(in.Team); err != nil || n >= maxWebhooks {
			return cmp.Or[error](
				err,
				fault.New(
					fault.Conflict, "too_many_webhooks",
					"This team has the maximum of %d webhooks. Delete one first.", maxWebhooks,
				),
			)
		}
		if row.Secret, err = s.Vault.Seal(tx, row.TeamID, secretOf(row.ID), secret); err != nil {
			return err
		}
		if err := tx.Insert(&row); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.WebhookChange, Object: row.ID, Name: nameOf(row), Team: row.TeamID,
			Detail: map[string]string{"change": "create"}, After: settingsOf(row),
		})
	})
	if err != nil {
		return none, fmt.Errorf("webhooks: create: %w", err)
	}
	return contract.WebhookWithSecret{Webhook: shown(row), Secret: contract.Secret(secret.Reveal())}, nil
}

// Update changes a webhook. Enabling a webhook clears why it was disabled.
func (s *Service) Update(
	ctx context.Context, p access.Principal, in contract.WebhookUpdate,
) (contract.Webhook, error) {
	seen, err := find(s.DB.Read(ctx), p, in.Webhook, access.WebhookChange)
	if err != nil {
		return contract.Webhook{}, fmt.Errorf("webhooks: change %s: %w", in.Webhook, err)
	}
	checked, err := s.check(ctx, in.Body.URL, over(seen, in.Body)) // a name is looked up: not within the transaction
	if err != nil {
		return contract.Webhook{}, fmt.Errorf("webhooks: change %s: %w", in.Webhook, err)
	}
	return s.change(ctx, p, in.Webhook, in.IfMatch, "settings", func(_ *models.Tx, row *models.Webhook) error {
		*row = over(*row, in.Body)
		if in.Body.URL != nil {
			row.URL = checked
		}
		return nil
	})
}

// over returns the row with a change, but for its URL.
func over(row models.Webhook, change contract.WebhookChange) models.Webhook {
	if change.Description != nil {
		row.Description = *change.Description
	}
	if change.Events != nil {
		row.Events = *change.Events
	}
	if change.Enabled != nil {
		if *change.Enabled && !row.Enabled {
			row.DisabledReason, row.FailingSince = "", nil
		}
		row.Enabled = *change.Enabled
	}
	return row
}

// Rotate creates a new secret for a webhook and returns it, this once. During the overlap the old secret signs too, so
// that the receiver can change over.
func (s *Service) Rotate(
	ctx context.Context, p access.Principal, in contract.WebhookRotation,
) (contract.WebhookWithSecret, error) {
	overlap := DefaultOverlap
	if in.Body != nil && in.Body.OverlapSeconds != nil {
		seconds := in.Body.OverlapSeconds
		if *seconds < 0 || *seconds > int64(maxOverlap/time.Second) {
			return contract.WebhookWithSecret{}, fault.InvalidField("/overlap_seconds", "invalid_overlap",
				"Use 0 to %s seconds (%d days).", humanize.Comma(int64(maxOverlap/time.Second)),
				maxOverlap/(24*time.Hour))
		}
		overlap = time.Duration(*seconds) * time.Second
	}
	secret := newSecret()
	out, err := s.change(ctx, p, in.Webhook, in.IfMatch, "rotate", func(tx *models.Tx, row *models.Webhook) error {
		row.OldSecret, row.OldSecretEndsAt = nil, nil
		if overlap > 0 {
			old, err := s.Vault.Open(tx, secretOf(row.ID), row.Secret)
			if err != nil {
				return err
			}
			if row.OldSecret, err = s.Vault.Seal(tx, row.TeamID, oldSecretOf(row.ID), old); err != nil {
				return err
			}
			until := models.Now().Add(overlap)
			row.OldSecretEndsAt = &until
		}
		var err error
		row.Secret, err = s.Vault.Seal(tx, row.TeamID, secretOf(row.ID), secret)
		return err
	})
	if err != nil {
		return contract.WebhookWithSecret{}, err
	}
	return contract.WebhookWithSecret{Webhook: out, Secret: contract.Secret(secret.Reveal())}, nil
}

// change applies fn to a webhook in one transaction with its audit entry.
func (s *Service) change(
	ctx context.Context, p access.Principal, id, ifMatch, what string,
	fn func(*models.Tx, *models.Webhook) error,
) (contract.Webhook, error) {
	var out contract.Webhook
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := find(tx, p, id, access.WebhookChange)
		if err != nil {
			return err
		}
		before := row
		if err := access.Unchanged(ifMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		seen := row.UpdatedAt
		if err := fn(tx, &row); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		updated, err := tx.UpdateWebhook(row, seen)
		if err == nil && !updated {
			err = access.Stale()
		}
		if err != nil {
			return err
		}
		out = shown(row)
		return access.Record(tx, p, access.Entry{
			Action: access.WebhookChange,
			Object: id,
			Name:   nameOf(row),
			Team:   row.TeamID,
			Detail: map[string]string{"change": what},
			Before: settingsOf(before),
			After:  settingsOf(row),
		})
	})
	if err != nil {
		return contract.Webhook{}, fmt.Errorf("webhooks: %s of %s: %w", what, id, err)
	}
	return out, nil
}

// Delete deletes a webhook and its deliveries.
func (s *Service) Delete(ctx context.Context, p access.Principal, in contract.WebhookPath) (contract.None, error) {
	id := in.Webhook
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := find(tx, p, id, access.WebhookChange)
		if err != nil {
			return err
		}
		if err := tx.DeleteWebhook(id); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.WebhookChange, Object: id, Name: nameOf(row), Team: row.TeamID,
			Detail: map[string]string{"change": "delete"}, Before: settingsOf(row),
		})
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("webhooks: delete %s: %w", id, err)
	}
	return contract.None{}, nil
}

// check validates a webhook. If raw is not nil, it validates that URL too and returns
// it normalized.
func (s *Service) check(ctx context.Context, raw *string, row models.Webhook) (checked string, err error) {
	var wrong []fault.Field
	if raw != nil {
		u, field, err := s.checkURL(ctx, *raw)
		if err != nil {
			return "", err
		}
		if field != nil {
			wrong = append(wrong, *field)
		} else {
			checked = u.String()
		}
	}
	if utf8.RuneCountInString(row.Description) > maxDescription || !utf8.ValidString(row.Description) ||
		strings.ContainsRune(row.Description, 0) {
		wrong = append(wrong, fault.Field{
			Pointer: "/description",
			Code:    "invalid_description",
			Detail:  fmt.Sprintf("Use at most %d printable characters.", maxDescription),
		})
	}
	if len(row.Events) == 0 {
		wrong = append(wrong, fault.Field{Pointer: "/events", Code: "required", Detail: "Use at least one event."})
	}
	for i, event := range row.Events {
		pointer := fmt.Sprintf("/events/%d", i)
		if !slices.Contains(contract.WebhookEvents(), event) {
			wrong = append(wrong, fault.Field{
				Pointer: pointer,
				Code:    "unknown_event",
				Detail:  "Use one of " + strings.Join(contract.WebhookEvents(), ", ") + ".",
			})
		} else if slices.Index(row.Events, event) != i {
			wrong = append(wrong, fault.Field{
				Pointer: pointer,
				Code:    "duplicate",
				Detail:  "This event is listed twice. Remove one.",
			})
		}
	}
	return checked, fault.InvalidFields(wrong)
}

func (s *Service) checkURL(ctx context.Context, raw string) (*url.URL, *fault.Field, error) {
	if len(raw) > maxURL {
		return nil, &fault.Field{
			Pointer: "/url",
			Code:    "invalid_url",
			Detail:  fmt.Sprintf("Use at most %s bytes.", humanize.Comma(maxURL)),
		}, nil
	}
	address, query, asks := strings.Cut(raw, "?") // receivers keep a token in it, which a target has no use for
	if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
		return nil, &fault.Field{
			Pointer: "/url",
			Code:    egress.CodeInvalidURL,
			Detail:  "Percent-encode the query and leave out the fragment (#…).",
		}, nil
	}
	u, err := s.Targets.CheckTarget(ctx, address)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Kind == fault.Invalid {
		return nil, &fault.Field{Pointer: "/url", Code: refusal.Code, Detail: refusal.Public}, nil
	}
	if err == nil {
		u.RawQuery, u.ForceQuery = query, asks && query == ""
	}
	return u, nil, err
}

// settings is what the audit log keeps of a webhook: of its URL only the host, since
// the path may be a secret of the team, and of its secret only that it changed.
type settings struct {
	Host        string
	Description string
	Events      []string
	Enabled     bool
	Secret      []byte
}

func settingsOf(row models.Webhook) settings {
	out := settings{Description: row.Description, Events: row.Events, Enabled: row.Enabled, Secret: row.Secret}
	if u, err := url.Parse(row.URL); err == nil {
		out.Host = u.Host
	}
	return out
}

// nameOf returns what the audit log calls a webhook: its description, or else scheme and host of its URL.
func nameOf(row models.Webhook) string {
	u, err := url.Parse(row.URL)
	if row.Description != "" || err != nil {
		return row.Description
	}
	return u.Scheme + "://" + u.Host
}

// The columns of a webhook's sealed secrets.
func secretOf(id string) secrets.Place {
	return secrets.Place{
		Table:   "webhooks",
		Row:     id,
		Column:  "secret",
		Purpose: secrets.ForControl,
	}
}

func oldSecretOf(id string) secrets.Place {
	return secrets.Place{
		Table:   "webhooks",
		Row:     id,
		Column:  "old_secret",
		Purpose: secrets.ForControl,
	}
}

// secretPrefix marks a symmetric secret of Standard Webhooks; what follows is the
// key in base64.
const secretPrefix = "whsec_"

func newSecret() secrets.Secret {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		panic(fmt.Sprintf("webhooks: read random bytes: %v", err))
	}
	return secrets.Secret(secretPrefix + base64.StdEncoding.EncodeToString(key[:]))
}
