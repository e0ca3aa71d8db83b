package projects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

func shownKeyType(row models.KeyType) contract.KeyType {
	out := contract.KeyType{KeyTypeRecord: contract.KeyTypeRecord{
		ID:        row.ID,
		Name:      row.Name,
		Scopes:    row.Scopes,
		ExpiresIn: row.ExpiresIn,
		Limits:    row.Limits,
		BuiltIn:   row.BuiltIn,
	}}
	out.ETag = digest(out)
	return out
}

// KeyTypes lists a project's key types by name.
func (s *Service) KeyTypes(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.List[contract.KeyType], error) {
	project, err := s.Get(ctx, p, in.Project)
	return contract.List[contract.KeyType]{Items: project.KeyTypes}, err
}

// KeyType finds a key type, named by name or id.
func (s *Service) KeyType(ctx context.Context, p access.Principal, in contract.KeyTypePath) (contract.KeyType, error) {
	project, err := s.Get(ctx, p, in.Project)
	if err != nil {
		return contract.KeyType{}, err
	}
	found, ok := project.KeyType(in.KeyType)
	if !ok {
		return found, fmt.Errorf("projects: key type %s of %s: %w", in.KeyType, in.Project, access.NotFound())
	}
	return found, nil
}

// KeyType finds a key type of the project, named by name or id.
func (p Project) KeyType(ref string) (found contract.KeyType, ok bool) {
	i := slices.IndexFunc(p.KeyTypes, func(t contract.KeyType) bool { return t.Name == ref || t.ID == ref })
	if i < 0 {
		return found, false
	}
	return p.KeyTypes[i], true
}

// CreateKeyType adds a key type to a project.
func (s *Service) CreateKeyType(
	ctx context.Context, p access.Principal, in contract.KeyTypeCreation,
) (contract.KeyType, error) {
	var out contract.KeyType
	says := &note{change: "key type " + in.Body.Name, then: keyTypeWarnings(&out)}
	err := s.changeNoted(ctx, p, in.Project, says, func(tx *models.Tx, project models.Project, _ time.Time) error {
		types, err := tx.KeyTypesOf(project.ID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(types, func(t models.KeyType) bool { return t.Name == in.Body.Name }) {
			return keyTypeTaken(in.Body.Name)
		}
		if len(types) >= maxKeyTypes+2 { // and the built-in full and read-only
			return fault.New(fault.Conflict, "too_many_key_types", "A project can have at most %d custom key "+
				"types.", maxKeyTypes)
		}
		if err := fault.InvalidFields(checkKeyType("", in.Body)); err != nil {
			return err
		}
		row := keyTypeRow(project.ID, in.Body)
		if err := tx.Insert(&row); errors.Is(err, models.ErrDuplicate) {
			return keyTypeTaken(in.Body.Name)
		} else if err != nil {
			return err
		}
		out = shownKeyType(row)
		return nil
	})
	return out, err
}

func keyTypeRow(projectID string, t contract.NewKeyType) models.KeyType {
	return models.KeyType{
		ID:        models.NewID("kty"),
		ProjectID: projectID,
		Name:      t.Name,
		Scopes:    t.Scopes,
		ExpiresIn: t.ExpiresIn,
		Limits:    t.Limits,
	}
}

// keyTypeWarnings returns what sets the warnings of a key type once it is saved in a project.
func keyTypeWarnings(t *contract.KeyType) func(*models.Tx, Project) error {
	return func(_ *models.Tx, after Project) error {
		after.KeyTypes = []contract.KeyType{*t}
		for _, v := range after.Versions { // of all versions, those that name it
			t.Warnings = append(t.Warnings, after.KeyTypeWarnings(v.ID)...)
		}
		return nil
	}
}

func keyTypeTaken(name string) error {
	return &fault.Error{
		Kind:   fault.Conflict,
		Code:   "name_taken",
		Public: fmt.Sprintf("This project already has a key type %q.", name),
		Fields: []fault.Field{{
			Pointer: "/name",
			Code:    "name_taken",
			Detail:  "Choose another name, or change the existing key type.",
		}},
	}
}

// UpdateKeyType changes a key type. The change applies to all keys of the type at once, except for the lifetime, which
// applies to new keys, and for keys with their own limits.
func (s *Service) UpdateKeyType(
	ctx context.Context, p access.Principal, in contract.KeyTypeUpdate,
) (contract.KeyType, error) {
	var out contract.KeyType
	change := func(tx *models.Tx, _ models.Project, row models.KeyType) error {
		changeKeyType(&row, in.Body)
		out = shownKeyType(row)
		checked := contract.NewKeyType{Name: row.Name, Scopes: row.Scopes, ExpiresIn: row.ExpiresIn, Limits: out.Limits}
		if err := fault.InvalidFields(checkKeyType("", checked)); err != nil {
			return err
		}
		return tx.UpdateKeyType(row)
	}
	err := s.changeOfKeyType(ctx, p, in.KeyTypePath, in.Condition, change, keyTypeWarnings(&out))
	return out, err
}

func changeKeyType(row *models.KeyType, in contract.KeyTypeChange) {
	if in.Scopes != nil {
		row.Scopes = *in.Scopes
	}
	if in.ExpiresIn.Sent {
		row.ExpiresIn = in.ExpiresIn.Or(0)
	}
	if in.Limits.Sent {
		row.Limits = in.Limits.Or(nil)
	}
}

// DeleteKeyType deletes a key type without keys. One with keys is refused as Conflict with
// the code key_type_in_use.
func (s *Service) DeleteKeyType(
	ctx context.Context, p access.Principal, in contract.KeyTypeDeletion,
) (contract.None, error) {
	return contract.None{}, s.changeOfKeyType(ctx, p, in.KeyTypePath, in.Condition, deleteKeyType, nil)
}

func deleteKeyType(tx *models.Tx, project models.Project, row models.KeyType) error {
	// Keys of the product's other projects count too: they open this one by the type's name.
	all, active, err := tx.CountKeysOfType(project, row.Name, models.Now())
	if err != nil {
		return err
	}
	if all > models.MaxTotal {
		return fault.New(fault.Conflict, "key_type_in_use", "You can't delete this key type, because more than %d "+
			"keys use it. Revoked keys also count.", models.MaxTotal)
	}
	if all > 0 {
		return fault.New(fault.Conflict, "key_type_in_use", "You can't delete this key type, because %s it (%d "+
			"active). Revoked keys also count.", countOf(all, "key uses", "keys use"), active)
	}
	err = tx.DeleteKeyType(row.ID)
	if errors.Is(err, models.ErrReferenced) {
		return fault.New(fault.Conflict, "key_type_in_use", "A key of this type was just created, so you can't "+
			"delete the type.").Because(err)
	}
	return err
}

func countOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// changeOfKeyType locks a key type that is not built in, checks the condition and calls fn.
func (s *Service) changeOfKeyType(
	ctx context.Context, p access.Principal, in contract.KeyTypePath, seen contract.Condition,
	fn func(*models.Tx, models.Project, models.KeyType) error, then func(*models.Tx, Project) error,
) error {
	says := &note{change: "key type " + in.KeyType, then: then}
	return s.changeNoted(ctx, p, in.Project, says, func(tx *models.Tx, project models.Project, _ time.Time) error {
		column := "name"
		if strings.Contains(in.KeyType, "_") {
			column = "id"
		}
		row, err := tx.LockKeyType(project.ID, column, in.KeyType)
		if errors.Is(err, models.ErrNotFound) {
			return access.NotFound()
		}
		if err != nil {
			return err
		}
		if row.BuiltIn {
			return fault.New(fault.Conflict, "built_in", "The key type %s is built in and is the same in every "+
				"project. Create your own key type instead.", row.Name)
		}
		if err := access.Unchanged(seen.IfMatch, shownKeyType(row).ETag); err != nil {
			return err
		}
		return fn(tx, project, row)
	})
}

const (
	maxKeyTypes  = keys.MaxTypes
	maxExpiresIn = 10 * 365 * 24 * 3600
)

// checkKeyType checks a key type. at is its JSON Pointer in the body.
func checkKeyType(at string, t contract.NewKeyType) []fault.Field {
	var wrong []fault.Field
	if !ValidName(t.Name) {
		wrong = append(wrong, nameFault(at+"/name"))
	}
	wrong = append(wrong, keys.CheckScopes(at+"/scopes", t.Scopes)...)
	if t.ExpiresIn < 0 || t.ExpiresIn > maxExpiresIn {
		wrong = append(wrong, fault.Field{
			Pointer: at + "/expires_in",
			Code:    "invalid_expiry",
			Detail:  "Use a duration of up to ten years, in seconds, or omit this setting.",
		})
	}
	return append(wrong, keys.CheckLimits(at+"/limits", t.Limits)...)
}

// builtInTypes are the key types that every project has, which callers must not redefine.
func builtInTypes() []contract.NewKeyType {
	return []contract.NewKeyType{
		{Name: keys.TypeFull, Scopes: []string{"*"}},
		{Name: keys.TypeReadOnly, Scopes: []string{"read"}},
	}
}

// withBuiltIns returns the caller's key types, checked, after the built-in ones.
func withBuiltIns(custom []contract.NewKeyType) ([]contract.NewKeyType, []fault.Field) {
	all := builtInTypes()
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
		if slices.ContainsFunc(all, func(have contract.NewKeyType) bool { return have.Name == t.Name }) {
			wrong = append(wrong, fault.Field{
				Pointer: at + "/name",
				Code:    "duplicate",
				Detail:  "This key type already exists. full and read-only are built in.",
			})
		}
		wrong = append(wrong, checkKeyType(at, t)...)
		all = append(all, t)
	}
	return all, wrong
}

// insertKeyTypes writes the key types, the built-in ones first, and returns the one named full.
func insertKeyTypes(tx *models.Tx, projectID string, types []contract.NewKeyType) (full models.KeyType, err error) {
	for i, t := range types {
		row := keyTypeRow(projectID, t)
		row.BuiltIn = i < len(builtInTypes())
		if err := tx.Insert(&row); err != nil {
			return full, err
		}
		if t.Name == keys.TypeFull {
			full = row
		}
	}
	return full, nil
}
