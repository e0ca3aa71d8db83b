// Package accounts implements the dashboard's accounts: sign-in by password or by a
// provider, sessions, the one-time link of the first start, teams with their members and
// invitations, and the unclaimed workspaces that an anonymous POST /proxy creates.
//
// It owns how a credential becomes an access.Principal. It leaves what a principal may do
// to access, and cookies and headers to the handlers. Secrets are stored as SHA-256 only,
// passwords as argon2id (RFC 9106).
package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// Lifetimes of a session, of the first sign-in link and of an invitation.
const (
	SessionTTL    = 30 * 24 * time.Hour
	linkTTL       = 24 * time.Hour
	InvitationTTL = 7 * 24 * time.Hour
)

// The kinds of token in the tokens table.
const (
	kindSession   = "session"
	KindWorkspace = "workspace"
	kindLink      = "link"
	kindRecovery  = "recovery"
	kindEmail     = "email"
)

const workspaceKeyPrefix = "pstw_"

// Service implements accounts, teams and invitations. Changed is called after a claim, and
// returns when the change is in effect in this process.
type Service struct {
	DB       *models.DB
	Changed  func(context.Context)
	Policy   config.AccountSignUp // zero is by invitation
	Events   Events               // nil: no events are sent
	Mail     *Mail                // nil: no mail is sent
	throttle throttle

	ProvesEmail  bool         // a configured provider verifies email addresses
	OwnIssuer    string       // OpenID Connect issuer that the operator configured, "" for none; see vouches
	PasswordCost PasswordCost // zero: as in production
}

// Events sends a team's webhook events, in the caller's transaction.
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error
}

// Workspace is a new unclaimed team, with its two secrets, which are shown only once.
type Workspace struct {
	Team      string
	Key       string // control credential, sent as a bearer token
	ClaimCode string
	ExpiresAt time.Time
}

// NewWorkspace creates an unclaimed team in the caller's transaction.
func NewWorkspace(tx *models.Tx, ttl time.Duration) (Workspace, error) {
	now := models.Now()
	w := Workspace{
		Team:      models.NewID("team"),
		Key:       workspaceKeyPrefix + secrets.Random(),
		ClaimCode: secrets.Random(),
		ExpiresAt: now.Add(ttl),
	}
	err := tx.Insert(
		&models.Team{
			ID:            w.Team,
			Name:          "Unclaimed workspace",
			ClaimCodeHash: secrets.Digest(w.ClaimCode),
			ExpiresAt:     &w.ExpiresAt,
			CreatedAt:     now,
		},
		&models.Token{
			ID:        models.NewID("tok"),
			Kind:      KindWorkspace,
			TeamID:    &w.Team,
			Hash:      secrets.Digest(w.Key),
			CreatedAt: now,
			ExpiresAt: &w.ExpiresAt,
		},
	)
	if err != nil {
		return Workspace{}, fmt.Errorf("accounts: create a workspace: %w", err)
	}
	return w, nil
}

// StillUnclaimed locks the workspace against a claim until the caller's transaction ends,
// and refuses one that was claimed after its key was looked up: a claim must include
// everything that the workspace key created. Unauthenticated invalid_token.
func StillUnclaimed(tx *models.Tx, team string) error {
	workspace, err := tx.LockTeam(team)
	if errors.Is(err, models.ErrNotFound) {
		return errBearer
	}
	if err != nil {
		return fmt.Errorf("accounts: lock the workspace %s: %w", team, err)
	}
	if workspace.ClaimedAt != nil || workspace.ClaimCodeHash == nil {
		return errBearer
	}
	return nil
}

var errBearer = fault.New(fault.Unauthenticated, "invalid_token", "This bearer token isn't valid, or its workspace "+
	"has expired or been claimed.")

// Unprintable reports whether a name must not contain r because it changes how the text
// around it is displayed: controls, and marks that change the direction of text.
func Unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// ByWorkspaceKey returns the principal of a workspace key. Unauthenticated invalid_token.
func (s *Service) ByWorkspaceKey(ctx context.Context, key string) (access.Principal, error) {
	if !strings.HasPrefix(key, workspaceKeyPrefix) {
		return access.Principal{}, errBearer
	}
	token, err := s.DB.Read(ctx).TokenByHash(KindWorkspace, secrets.Digest(key), models.Now())
	if errors.Is(err, models.ErrNotFound) || (err == nil && token.TeamID == nil) {
		return access.Principal{}, errBearer
	}
	if err != nil {
		return access.Principal{}, fmt.Errorf("accounts: look up a workspace key: %w", err)
	}
	return access.Principal{
		Roles:    map[string]access.Role{*token.TeamID: access.Workspace},
		Token:    token.ID,
		HomeTeam: *token.TeamID,
	}, nil
}
