package directory

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// Bounds on requests.
const (
	maxText    = 200
	maxMembers = 10_000 // in one request
	maxOwners  = 10_000 // in one group, directly
)

// Service manages the users and groups of tenants: create, change, freeze, delete,
// and the rules of who may sign in.
type Service struct {
	DB      *models.DB
	Changed func(context.Context) // called after a change that gateways see; returns when it is in effect here
	Events  Events                // of users, groups, and keys of deleted users; nil for none
}

// Home returns the id of a tenant whose users the principal may see.
func (s *Service) Home(ctx context.Context, p access.Principal, tenant string) (string, error) {
	at, err := findTenant(s.DB.Read(ctx), p, tenant, access.UserRead)
	if err != nil {
		return "", fmt.Errorf("directory: tenant %s: %w", tenant, err)
	}
	return at.ID, nil
}

// absent turns models.ErrNotFound into the fault that callers see.
func absent(err error) error {
	if errors.Is(err, models.ErrNotFound) {
		return access.NotFound()
	}
	return err
}

var (
	groupName  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`)
)

// checkEmail returns the address in lowercase, and a field error if it is invalid.
func checkEmail(pointer, text string) (string, []fault.Field) {
	text = ascii.Lower(strings.TrimSpace(text))
	read, err := mail.ParseAddress(text)
	if err != nil || read.Address != text || len(text) > 254 {
		return text, []fault.Field{{
			Pointer: pointer,
			Code:    "invalid_email",
			Detail:  "Use an email address such as ana@example.com.",
		}}
	}
	return text, nil
}

// checkText returns a field error unless text is short and of one line.
func checkText(pointer, text string) []fault.Field {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxText ||
		strings.ContainsFunc(text, unicode.IsControl) {
		return []fault.Field{{
			Pointer: pointer,
			Code:    "invalid_text",
			Detail:  fmt.Sprintf("Use at most %d characters on one line.", maxText),
		}}
	}
	return nil
}

// takenField returns the conflict of a field whose value is in use already.
func takenField(pointer, code, public, remedy string) error {
	return &fault.Error{
		Kind:   fault.Conflict,
		Code:   code,
		Public: public,
		Fields: []fault.Field{{Pointer: pointer, Code: code, Detail: remedy}},
	}
}

// orNil returns nil for "", which is stored as NULL: a unique index takes any number
// of those.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// ValidDomain reports whether s is a mail domain in lowercase.
func ValidDomain(s string) bool { return len(s) <= 253 && domainName.MatchString(s) }
