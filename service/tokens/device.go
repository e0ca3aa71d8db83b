package tokens

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/accounts"
)

// The numbers of the device flow.
const (
	deviceTTL   = 10 * time.Minute
	pollEvery   = 5      // seconds; also what slow_down adds (RFC 8628, 3.5)
	maxPending  = 20     // from one source
	maxWaiting  = 10_000 // from all together, so that the table stays small
	codeLetters = 8
)

// consonants have no letter that makes words or looks like a digit (RFC 8628,
// 6.1). Eight of them are 34 bits, which ten minutes and few tries protect.
const consonants = "BCDFGHJKLMNPQRSTVWXZ"

// The states of a grant.
const (
	pending  = "pending"
	approved = "approved"
	denied   = "denied"
)

// DeviceRequest is the request of a program for a token of the user who runs it.
type DeviceRequest struct {
	Machine    string   // what it calls the place it runs in
	Scopes     []string // all when empty
	RemoteAddr string
}

// RequestDevice begins a device flow. It needs no credential: the token comes from the account
// that approves it. The answer has no addresses.
func (s *Service) RequestDevice(ctx context.Context, in DeviceRequest) (contract.Device, error) {
	machine, problem := readName(in.Machine)
	if problem.Detail != "" {
		return contract.Device{}, fault.New(
			fault.Malformed,
			"invalid_request",
			"Enter a name of 1 to 80 characters for the machine.",
		)
	}
	if len(in.Scopes) == 0 {
		in.Scopes = strings.Split(allScopes(), ", ")
	}
	scopes, wrong := readScopes(in.Scopes, access.Principal{})
	if len(wrong) > 0 {
		return contract.Device{}, fault.New(fault.Malformed, "invalid_scope", "Use only these scopes: %s.", allScopes())
	}
	now, source := models.Now(), policy.SourceName(in.RemoteAddr)
	out := contract.Device{
		DeviceCode: contract.Secret(rand.Text() + rand.Text()),
		UserCode:   newUserCode(),
		ExpiresIn:  int(deviceTTL.Seconds()),
		Interval:   pollEvery,
	}
	row := models.DeviceGrant{
		ID:         models.NewID("dev"),
		DeviceHash: secrets.Digest(out.DeviceCode.Reveal()),
		UserHash:   secrets.Digest(out.UserCode),
		Machine:    machine,
		RemoteAddr: source,
		Scopes:     scopes,
		State:      pending,
		PollEvery:  pollEvery,
		CreatedAt:  now,
		ExpiresAt:  now.Add(deviceTTL),
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		here, all, err := tx.CountDeviceGrants(source, now)
		if err != nil {
			return err
		}
		if here >= maxPending || all >= cmp.Or(s.MaxWaiting, maxWaiting) {
			return fault.New(fault.TooMany, "temporarily_unavailable", "Too many sign-ins are waiting for approval. "+
				"Try again in ten minutes.")
		}
		return tx.Insert(&row)
	})
	if err != nil {
		return contract.Device{}, fmt.Errorf("tokens: begin a device flow: %w", err)
	}
	return out, nil
}

// newUserCode draws letters, each equally likely: bytes from 240 up are thrown
// away, because 256 is not a multiple of 20.
func newUserCode() string {
	var letters []byte
	for len(letters) < codeLetters {
		var b [1]byte
		_, _ = rand.Read(b[:]) // never fails
		if b[0] < 240 {
			letters = append(letters, consonants[int(b[0])%len(consonants)])
		}
	}
	return string(letters[:codeLetters/2]) + "-" + string(letters[codeLetters/2:])
}

// readUserCode takes a code as people type it: in any case, with any separators.
func readUserCode(typed string) (string, bool) {
	var letters []byte
	for _, r := range strings.ToUpper(typed) {
		switch {
		case r < 0x80 && strings.ContainsRune(consonants, r):
			letters = append(letters, byte(r))
		case r != '-' && r != ' ':
			return "", false
		}
	}
	if len(letters) != codeLetters {
		return "", false
	}
	return string(letters[:codeLetters/2]) + "-" + string(letters[codeLetters/2:]), true
}

// Waiting is a program that waits for approval, as the person is to judge it.
type Waiting struct {
	UserCode    string
	Machine     string
	RemoteAddr  string // of IPv6 the network, as policy.SourceName has it
	Scopes      []string
	RequestedAt time.Time
	TokenTTL    time.Duration
}

// Look shows a signed-in account which program a code belongs to.
func (s *Service) Look(ctx context.Context, p access.Principal, code string) (Waiting, error) {
	if err := access.CheckSelf(p, access.DeviceApprove); err != nil {
		return Waiting{}, fmt.Errorf("tokens: look up a device code: %w", err)
	}
	row, code, err := s.waiting(s.DB.Read(ctx), p, code)
	if err != nil {
		return Waiting{}, fmt.Errorf("tokens: look up a device code: %w", err)
	}
	return Waiting{
		UserCode:    code,
		Machine:     row.Machine,
		RemoteAddr:  row.RemoteAddr,
		Scopes:      row.Scopes,
		RequestedAt: row.CreatedAt,
		TokenTTL:    DefaultTTL,
	}, nil
}

var (
	errNoCode = fault.InvalidField("/user_code", "wrong_code", "No program is waiting for this code. Check the code. "+
		"Codes expire after ten minutes.")
	errGuesses = fault.New(fault.TooMany, "too_many_attempts",
		"You entered too many wrong codes. Wait 15 minutes and try again.").After(guessWindow)
)

// waiting finds the grant of a typed code. It counts wrong ones, by account and
// by address.
func (s *Service) waiting(tx *models.Tx, p access.Principal, typed string) (models.DeviceGrant, string, error) {
	now := models.Now()
	if !s.guesses.allowed(p, now) {
		return models.DeviceGrant{}, "", errGuesses
	}
	code, ok := readUserCode(typed)
	if !ok {
		return models.DeviceGrant{}, "", errNoCode // no guess: nothing has this shape
	}
	row, err := tx.PendingDeviceGrant(secrets.Digest(code), now)
	if errors.Is(err, models.ErrNotFound) {
		s.guesses.count(p, now)
		return row, "", access.Refused(errNoCode, "", access.DeviceApprove) // a guess, for the audit log
	}
	return row, code, err
}

// Decide approves or denies what a program waits for.
func (s *Service) Decide(ctx context.Context, p access.Principal, code string, approve bool) error {
	action, state := access.DeviceDeny, denied
	if approve {
		action, state = access.DeviceApprove, approved
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := access.CheckSelf(p, action); err != nil {
			return err
		}
		row, _, err := s.waiting(tx, p, code)
		if err != nil {
			return err
		}
		decided, err := tx.DecideDeviceGrant(row.ID, state, p.Account)
		if err != nil || !decided {
			return cmp.Or[error](err, errNoCode)
		}
		after := row
		after.State, after.AccountID = state, &p.Account
		return record(tx, p, access.Entry{
			Action: action,
			Object: row.ID,
			Detail: map[string]string{"machine": row.Machine},
			Before: row,
			After:  after,
		})
	})
	if err != nil {
		return fmt.Errorf("tokens: decide on a device code: %w", err)
	}
	return nil
}

// The answers to a program that polls (RFC 8628, 3.5; RFC 6749, 5.2).
var (
	errPending  = fault.New(fault.Malformed, "authorization_pending", "The request isn't approved yet. Keep polling.")
	errSlowDown = fault.New(fault.Malformed, "slow_down", "You are polling too fast. Wait five seconds longer "+
		"between requests.")
	errExpired = fault.New(fault.Malformed, "expired_token", "The code wasn't approved in time. Request a new code.")
	errDenied  = fault.New(fault.Malformed, "access_denied", "The request was denied.")
	errGrant   = fault.New(fault.Malformed, "invalid_grant", "This device code is unknown or was already used.")
)

// Exchange gives a program its token once its request was approved, as the
// account that approved it. Its errors have the codes of RFC 8628.
func (s *Service) Exchange(
	ctx context.Context, deviceCode string, from access.Principal,
) (contract.TokenWithSecret, error) {
	var out contract.TokenWithSecret
	var answer error // committed, not rolled back: what was asked when is to be kept
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := tx.DeviceGrantByDevice(secrets.Digest(deviceCode))
		if errors.Is(err, models.ErrNotFound) {
			answer = errGrant
			return nil
		}
		if err != nil {
			return err
		}
		now := models.Now()
		switch {
		case !row.ExpiresAt.After(now):
			answer = errExpired
		case row.State == denied:
			answer = errDenied
		case row.State == pending:
			answer, err = poll(tx, row, now)
		default:
			out, err = redeem(tx, row, from, now)
		}
		return err
	})
	if err = cmp.Or[error](err, answer); err != nil {
		return contract.TokenWithSecret{}, fmt.Errorf("tokens: exchange a device code: %w", err)
	}
	return out, nil
}

// poll answers a program that has to wait on.
func poll(tx *models.Tx, row models.DeviceGrant, now time.Time) (answer, err error) {
	answer, every := errPending, row.PollEvery
	if row.LastPolledAt != nil &&
		now.Sub(*row.LastPolledAt) < time.Duration(every-1)*time.Second { // a second for the network
		answer, every = errSlowDown, every+pollEvery
	}
	return answer, tx.PollDeviceGrant(row.ID, now, every)
}

func redeem(
	tx *models.Tx, row models.DeviceGrant, from access.Principal, now time.Time,
) (contract.TokenWithSecret, error) {
	var none contract.TokenWithSecret
	deleted, err := tx.DeleteDeviceGrant(row.ID)
	if err != nil || !deleted || row.AccountID == nil {
		return none, cmp.Or[error](err, errGrant)
	}
	p, err := accounts.PrincipalOf(tx, *row.AccountID)
	if err != nil {
		return none, err
	}
	p.RemoteAddr, p.RequestID = from.RemoteAddr, from.RequestID
	return mint(tx, p, models.AccessToken{
		Kind:      contract.CLIToken,
		Name:      row.Machine,
		Scopes:    slices.Clone(row.Scopes),
		CreatedAt: now,
		ExpiresAt: now.Add(DefaultTTL),
	})
}
