package projects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// KeyType is a named set of scopes. ExpiresIn is the default lifetime of its keys in
// seconds, 0 for none.
type KeyType struct {
	ID        string
	Name      string `audit:"-"`
	Scopes    []string
	ExpiresIn int64
	Limits    map[string]int64 // calls by window, for each key without limits of its own
	BuiltIn   bool
	ETag      string `audit:"-"`

	Warnings []fault.Warning `audit:"-" json:"-"` // set by CreateKeyType and UpdateKeyType
}

func viewKeyType(row models.KeyType) KeyType {
	out := KeyType{
		ID:        row.ID,
		Name:      row.Name,
		Scopes:    row.Scopes,
		ExpiresIn: row.ExpiresIn,
		Limits:    row.Limits,
		BuiltIn:   row.BuiltIn,
	}
	out.ETag = digest(out)
	return out
}

// KeyTypeChange is what UpdateKeyType can change; nil leaves a field as it is.
type KeyTypeChange struct {
	Scopes    *[]string
	ExpiresIn *int64
	Limits    *map[string]int64 // an empty map removes them
}

// KeyTypes lists a project's key types by name.
func (s *Service) KeyTypes(ctx context.Context, p access.Principal, ref string) ([]KeyType, error) {
	project, err := s.Get(ctx, p, ref)
	return project.KeyTypes, err
}

// CreateKeyType adds a key type to a project.
func (s *Service) CreateKeyType(ctx context.Context, p access.Principal, ref string, in KeyType) (KeyType, error) {
	var out KeyType
	says := &note{change: "key type " + in.Name, then: out.warn}
	err := s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, _ time.Time) error {
		types, err := tx.KeyTypesOf(project.ID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(types, func(t models.KeyType) bool { return t.Name == in.Name }) {
			return keyTypeTaken(in.Name)
		}
		if len(types) >= maxKeyTypes+2 { // and the built-in full and read-only
			return fault.New(fault.Conflict, "too_many_key_types", "A project has at most %d key types beside the "+
				"built-in ones.", maxKeyTypes)
		}
		if err := fault.InvalidFields(checkKeyType("", in)); err != nil {
			return err
		}
		row := models.KeyType{
			ID:        models.NewID("kty"),
			ProjectID: project.ID,
			Name:      in.Name,
			Scopes:    in.Scopes,
			ExpiresIn: in.ExpiresIn,
			Limits:    in.Limits,
		}
		if err := tx.Insert(&row); errors.Is(err, models.ErrDuplicate) {
			return keyTypeTaken(in.Name)
		} else if err != nil {
			return err
		}
		out = viewKeyType(row)
		return nil
	})
	return out, err
}

// warn sets the warnings of a key type that is saved in a project.
func (t *KeyType) warn(_ *models.Tx, after Project) error {
	t.Warnings = t.warnings(after)
	return nil
}

func keyTypeTaken(name string) error {
	return &fault.Error{
		Kind:   fault.Conflict,
		Code:   "name_taken",
		Public: fmt.Sprintf("This project has a key type %q already.", name),
		Fields: []fault.Field{{
			Pointer: "/name",
			Code:    "name_taken",
			Detail:  "Choose another name, or change the one that exists.",
		}},
	}
}

// UpdateKeyType changes a key type, named by name or id. The change applies to all keys of
// the type at once, except for the lifetime, which applies to new keys, and for limits that
// a key has of its own. With ifMatch not empty the change is refused as stale unless that
// is still the type's ETag.
func (s *Service) UpdateKeyType(
	ctx context.Context, p access.Principal, ref, keyType, ifMatch string, in KeyTypeChange,
) (KeyType, error) {
	var out KeyType
	change := func(tx *models.Tx, _ models.Project, row models.KeyType) error {
		if in.Scopes != nil {
			row.Scopes = *in.Scopes
		}
		if in.ExpiresIn != nil {
			row.ExpiresIn = *in.ExpiresIn
		}
		if in.Limits != nil {
			row.Limits = *in.Limits
		}
		out = viewKeyType(row)
		if err := fault.InvalidFields(checkKeyType("", out)); err != nil {
			return err
		}
		return tx.UpdateKeyType(row)
	}
	err := s.changeKeyType(ctx, p, ref, keyType, ifMatch, change, out.warn)
	return out, err
}

// DeleteKeyType deletes a key type without keys. One with keys is refused as Conflict with
// the code key_type_in_use.
func (s *Service) DeleteKeyType(ctx context.Context, p access.Principal, ref, keyType, ifMatch string) error {
	return s.changeKeyType(ctx, p, ref, keyType, ifMatch, deleteKeyType, nil)
}

func deleteKeyType(tx *models.Tx, project models.Project, row models.KeyType) error {
	// Keys of the product's other projects count too: they open this one by the type's name.
	all, err := tx.CountKeysListed(project, models.KeyFilter{KeyType: row.Name})
	if err != nil {
		return err
	}
	active, err := tx.CountKeysListed(project, models.KeyFilter{
		KeyType: row.Name,
		State:   string(snapshot.KeyActive),
		Now:     models.Now(),
	})
	if err != nil {
		return err
	}
	if all > models.MaxTotal {
		return fault.New(fault.Conflict, "key_type_in_use", "More than %d keys are of this type. Keys keep their "+
			"type, also when they are revoked.", models.MaxTotal)
	}
	if all > 0 {
		return fault.New(fault.Conflict, "key_type_in_use", "%s of this type, %d of them active. Keys keep their "+
			"type, also when they are revoked.", countOf(all, "key is", "keys are"), active)
	}
	err = tx.DeleteKeyType(row.ID)
	if errors.Is(err, models.ErrReferenced) {
		return fault.New(fault.Conflict, "key_type_in_use", "A key of this type was made just now.").Because(err)
	}
	return err
}

func countOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// changeKeyType locks a key type that is not built in, checks ifMatch and calls fn.
func (s *Service) changeKeyType(
	ctx context.Context, p access.Principal, ref, keyType, ifMatch string,
	fn func(*models.Tx, models.Project, models.KeyType) error, then func(*models.Tx, Project) error,
) error {
	says := &note{change: "key type " + keyType, then: then}
	return s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, _ time.Time) error {
		column := "name"
		if strings.Contains(keyType, "_") {
			column = "id"
		}
		row, err := tx.LockKeyType(project.ID, column, keyType)
		if errors.Is(err, models.ErrNotFound) {
			return access.NotFound()
		}
		if err != nil {
			return err
		}
		if row.BuiltIn {
			return fault.New(fault.Conflict, "built_in", "The key type %s is built in: it means the same in every "+
				"project. Make another one.", row.Name)
		}
		if err := access.Unchanged(ifMatch, viewKeyType(row).ETag); err != nil {
			return err
		}
		return fn(tx, project, row)
	})
}

const (
	maxKeyTypes  = 50
	maxScopes    = 100 // of one key type; they are sent in one header
	maxExpiresIn = 10 * 365 * 24 * 3600
)

// checkKeyType checks a key type. at is its JSON Pointer in the body.
func checkKeyType(at string, t KeyType) []fault.Field {
	var wrong []fault.Field
	if !ValidName(t.Name) {
		wrong = append(wrong, nameFault(at+"/name"))
	}
	if len(t.Scopes) > maxScopes {
		return append(wrong, fault.Field{
			Pointer: at + "/scopes",
			Code:    "too_many_scopes",
			Detail:  fmt.Sprintf("Use at most %d scopes.", maxScopes),
		})
	}
	if len(t.Scopes) == 0 {
		wrong = append(wrong, fault.Field{
			Pointer: at + "/scopes",
			Code:    "required",
			Detail:  "Name at least one scope, such as read or orders:*.",
		})
	}
	for i, scope := range t.Scopes {
		if scope != "*" && !scopePattern.MatchString(scope) {
			wrong = append(wrong, fault.Field{
				Pointer: fmt.Sprintf("%s/scopes/%d", at, i),
				Code:    "invalid_scope",
				Detail:  "Use lower-case letters, digits and : . _ -, such as orders:read, or * for all.",
			})
		}
	}
	if t.ExpiresIn < 0 || t.ExpiresIn > maxExpiresIn {
		wrong = append(wrong, fault.Field{
			Pointer: at + "/expires_in",
			Code:    "invalid_expiry",
			Detail:  "Give a number of seconds up to ten years, or leave it out.",
		})
	}
	return append(wrong, keys.CheckLimits(at+"/limits", t.Limits)...)
}

// withBuiltIns returns the caller's key types, checked, after the built-in types full and
// read-only, which the caller must not redefine.
func withBuiltIns(custom []KeyType) ([]KeyType, []fault.Field) {
	all := []KeyType{
		{Name: keys.TypeFull, Scopes: []string{"*"}, BuiltIn: true},
		{Name: keys.TypeReadOnly, Scopes: []string{"read"}, BuiltIn: true},
	}
	if len(custom) > maxKeyTypes {
		return all, []fault.Field{{
			Pointer: "/requests_auth/key_types",
			Code:    "too_many_key_types",
			Detail:  fmt.Sprintf("Use at most %d key types.", maxKeyTypes),
		}}
	}
	var wrong []fault.Field
	for i, t := range custom {
		at := fmt.Sprintf("/requests_auth/key_types/%d", i)
		if slices.ContainsFunc(all, func(have KeyType) bool { return have.Name == t.Name }) {
			wrong = append(wrong, fault.Field{
				Pointer: at + "/name",
				Code:    "duplicate",
				Detail:  "This key type exists already; full and read-only are built in.",
			})
		}
		wrong = append(wrong, checkKeyType(at, t)...)
		all = append(all, KeyType{Name: t.Name, Scopes: t.Scopes, ExpiresIn: t.ExpiresIn, Limits: t.Limits})
	}
	return all, wrong
}

// insertKeyTypes writes the key types and returns the one named full.
func insertKeyTypes(tx *models.Tx, projectID string, types []KeyType) (full models.KeyType, err error) {
	for _, t := range types {
		row := models.KeyType{
			ID:        models.NewID("kty"),
			ProjectID: projectID,
			Name:      t.Name,
			Scopes:    t.Scopes,
			ExpiresIn: t.ExpiresIn,
			Limits:    t.Limits,
			BuiltIn:   t.BuiltIn,
		}
		if err := tx.Insert(&row); err != nil {
			return full, err
		}
		if t.Name == keys.TypeFull {
			full = row
		}
	}
	return full, nil
}
