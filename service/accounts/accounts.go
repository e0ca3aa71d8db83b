// Package accounts knows who signs in and which team they act for: dashboard
// accounts with passwords or linked to other issuers, sessions, the one-time link
// of the first start, teams with their members and invitations, and the unclaimed
// workspaces that an anonymous POST /proxy makes.
//
// It owns how a credential becomes an access.Principal; it does not own what a
// principal may do (access) nor cookies and headers (handlers). Secrets are kept
// as SHA-256 only; passwords as argon2id (RFC 9106).
package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/service/access"
)

// How long a session, a sign-in link and an invitation live.
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
)

const workspaceKeyPrefix = "pstw_"

// Service is the room's door. Changed is called after a claim and returns when
// the change is in effect in this process.
type Service struct {
	DB       *models.DB
	Changed  func(context.Context)
	Policy   config.SignUpPolicy // zero is by invitation
	Events   Events              // nil: nobody is told
	throttle throttle

	ProvesEmail bool // a provider is configured that confirms people's addresses
}

// Events tells a team of what it has claimed, in the caller's transaction.
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]string) error
}

// newSecret makes 256 random bits as text.
func newSecret() string {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(fmt.Sprintf("accounts: no randomness: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Workspace is a team that nobody has claimed yet, with its two secrets, which
// are shown this once.
type Workspace struct {
	Team      string
	Key       string // control credential, sent as a bearer token
	ClaimCode string
	ExpiresAt time.Time
}

// NewWorkspace makes an unclaimed team in the caller's transaction.
func NewWorkspace(tx *models.Tx, ttl time.Duration) (Workspace, error) {
	now := models.Now()
	w := Workspace{
		Team:      models.NewID("team"),
		Key:       workspaceKeyPrefix + newSecret(),
		ClaimCode: newSecret(),
		ExpiresAt: now.Add(ttl),
	}
	err := tx.Insert(
		&models.Team{
			ID:            w.Team,
			Name:          "Unclaimed workspace",
			ClaimCodeHash: hash(w.ClaimCode),
			ExpiresAt:     &w.ExpiresAt,
			CreatedAt:     now,
		},
		&models.Token{
			ID:        models.NewID("tok"),
			Kind:      KindWorkspace,
			TeamID:    &w.Team,
			Hash:      hash(w.Key),
			CreatedAt: now,
			ExpiresAt: &w.ExpiresAt,
		},
	)
	if err != nil {
		return Workspace{}, fmt.Errorf("accounts: make a workspace: %w", err)
	}
	return w, nil
}

// StillUnclaimed refuses a workspace that was claimed after its key was looked
// up, and holds off a claim until the caller's transaction ends: what is made
// with a workspace key must not be left in a team without members.
func StillUnclaimed(tx *models.Tx, team string) error {
	workspace, err := tx.LockTeam(team)
	if errors.Is(err, models.ErrNotFound) {
		return errBearer
	}
	if err != nil {
		return fmt.Errorf("accounts: hold the workspace %s: %w", team, err)
	}
	if workspace.ClaimedAt != nil || workspace.ClaimCodeHash == nil {
		return errBearer
	}
	return nil
}

var errBearer = fault.New(fault.Unauthenticated, "invalid_token", "This bearer token is not valid, or its workspace "+
	"has expired or been claimed.")

// Unprintable tells characters that a name must not hold because they change how
// what is around it is shown: controls, and marks that turn the direction of text.
func Unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// ByWorkspaceKey is the principal a bearer token stands for.
func (s *Service) ByWorkspaceKey(ctx context.Context, key string) (access.Principal, error) {
	if !strings.HasPrefix(key, workspaceKeyPrefix) {
		return access.Principal{}, errBearer
	}
	token, err := s.DB.Read(ctx).TokenByHash(KindWorkspace, hash(key), models.Now())
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

// Profile is what the dashboard shows of the account that is signed in.
type Profile struct {
	Name  string
	Email string
}

// ProfileOf finds an account's profile.
func (s *Service) ProfileOf(ctx context.Context, account string) (Profile, error) {
	a, err := s.DB.Read(ctx).AccountByID(account)
	if err != nil {
		return Profile{}, fmt.Errorf("accounts: profile of %s: %w", account, err)
	}
	return Profile{Name: a.Name, Email: a.Email}, nil
}
