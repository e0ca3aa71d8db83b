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
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// Bounds on lists and texts.
const (
	maxText    = 200
	maxMembers = 10_000 // that one request may name
)

// Service is the room's door. Changed is called after each change that a gateway
// has to know, and returns when it is in effect in this process.
type Service struct {
	DB      *models.DB
	Changed func(context.Context)
	Events  keys.Events // of the keys of who is deleted; nil: nobody is told
}

// place is a tenant with the team it belongs to.
type place struct {
	models.Tenant
	team string
}

// findTenant finds a tenant by its id, or a team's by its name, and asks whether
// the principal may do this with its people.
func findTenant(tx *models.Tx, p access.Principal, ref string, action access.Action) (place, error) {
	if p.Anonymous() {
		return place{}, access.Check(p, "", action)
	}
	if !strings.Contains(ref, "_") { // ids hold an underscore, which names cannot
		return findByName(tx, p, ref, action)
	}
	return tenantByID(tx, p, ref, action)
}

// Home is the id of a tenant whose people the principal may see.
func (s *Service) Home(ctx context.Context, p access.Principal, tenant string) (string, error) {
	at, err := findTenant(s.DB.Read(ctx), p, tenant, access.UserRead)
	if err != nil {
		return "", fmt.Errorf("directory: tenant %s: %w", tenant, err)
	}
	return at.ID, nil
}

func tenantByID(tx *models.Tx, p access.Principal, id string, action access.Action) (place, error) {
	row, err := tx.TenantByID(id)
	if err != nil {
		return place{}, absent(err)
	}
	if row.TeamID != nil {
		return place{row, *row.TeamID}, access.Check(p, *row.TeamID, action)
	}
	if row.ProjectID == nil {
		return place{}, fmt.Errorf("the tenant %s belongs to nobody", row.ID)
	}
	project, err := tx.ProjectByID(*row.ProjectID)
	if err != nil {
		return place{}, absent(err)
	}
	return place{row, project.TeamID}, access.CheckProject(p, project, action)
}

// findByName looks in the home team first: that is where a name is meant.
func findByName(tx *models.Tx, p access.Principal, name string, action access.Action) (place, error) {
	for _, team := range append([]string{p.HomeTeam}, p.Teams()...) {
		list, err := tx.TenantsOfTeam(team)
		if err != nil {
			return place{}, err
		}
		for _, row := range list {
			if row.Name == name {
				return place{row, team}, access.Check(p, team, action)
			}
		}
	}
	return place{}, access.NotFound()
}

// absent tells what is not there apart from what failed.
func absent(err error) error {
	if errors.Is(err, models.ErrNotFound) {
		return access.NotFound()
	}
	return err
}

// record writes the audit entry of a change among a tenant's people.
func record(tx *models.Tx, p access.Principal, at place, object string, before, after any) error {
	entry := access.Entry{
		Action: access.UserUpdate,
		Object: object,
		Team:   at.team,
		Detail: map[string]string{"tenant": at.ID},
		Before: before,
		After:  after,
	}
	if at.ProjectID != nil {
		entry.Project = *at.ProjectID
	}
	return access.Record(tx, p, entry)
}

var (
	groupName  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`)
)

// checkEmail reads an address, in lower case.
func checkEmail(pointer, text string) (string, []fault.Field) {
	text = strings.ToLower(strings.TrimSpace(text))
	read, err := mail.ParseAddress(text)
	if err != nil || read.Address != text || len(text) > 254 {
		return text, []fault.Field{{
			Pointer: pointer,
			Code:    "invalid_email",
			Detail:  "Give an e-mail address such as ana@example.com.",
		}}
	}
	return text, nil
}

// checkText refuses what cannot be shown in a line.
func checkText(pointer, text string) []fault.Field {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxText ||
		strings.ContainsFunc(text, unicode.IsControl) {
		return []fault.Field{{
			Pointer: pointer,
			Code:    "invalid_text",
			Detail:  fmt.Sprintf("Use at most %d characters, on one line.", maxText),
		}}
	}
	return nil
}

// takenField refuses what has to be unique and is not.
func takenField(pointer, code, public, mend string) error {
	return &fault.Error{
		Kind:   fault.Conflict,
		Code:   code,
		Public: public,
		Fields: []fault.Field{{Pointer: pointer, Code: code, Detail: mend}},
	}
}

// orNil keeps an absent text as NULL: of those, any number may be in a unique index.
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
