package movein

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/movein"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// Bounds on choices.
const (
	mostChosen = 1000 // routes and consumers to open, or placeholders
	mostHosts  = 100
	longest    = 4096 // bytes of one
)

// wrongText is the error of a choice that is empty, too long or not printable.
var wrongText = fmt.Sprintf("Use 1 to %s printable characters.", humanize.Comma(longest))

// Update changes the choices for a plan and returns the new plan. Errors: Stale; Invalid with the fields of choices
// that don't fit the file.
func (s *Plans) Update(
	ctx context.Context, p access.Principal, in contract.ImportPlanUpdate,
) (contract.PlannedImport, error) {
	out, err := s.update(ctx, p, in)
	if err != nil {
		return contract.PlannedImport{}, fmt.Errorf("movein: change %s: %w", in.Import, err)
	}
	return out, nil
}

func (s *Plans) update(
	ctx context.Context, p access.Principal, in contract.ImportPlanUpdate,
) (contract.PlannedImport, error) {
	var none contract.PlannedImport
	tx := s.DB.Read(ctx)
	row, err := find(tx, p, in.Import)
	if err == nil {
		err = changeable(row, in.IfMatch)
	}
	if err != nil {
		return none, err
	}
	was := row
	before, set, plan, err := s.replan(ctx, tx, &row, in.Body)
	if err != nil {
		return none, err
	}
	found := s.test(ctx, row.ID, plan)
	if keep(&row, found) {
		plan.Take(row.Trusted)
		found = s.test(ctx, row.ID, plan) // to show that the certificates are accepted
	}
	row.UpdatedAt = models.Now()
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if row.SetValues, err = s.sealValues(tx, row, set); err != nil {
			return err
		}
		updated, err := tx.UpdateImportPlan(row, was.UpdatedAt)
		if err == nil && !updated {
			err = access.Stale()
		}
		if err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.ProjectImport, Object: row.ID, Team: row.TeamID,
			Detail: map[string]string{"change": "settings", "name": row.Choices.Name},
			Before: settingsOf(was, before), After: settingsOf(row, set),
		})
	})
	return withTargets(shown(row, set, plan), found), err
}

// replan changes the choices of a plan, and makes it again. It returns the values of placeholders before and now.
func (s *Plans) replan(
	ctx context.Context, tx *models.Tx, row *models.ImportPlan, change contract.ImportPlanChange,
) (before, set map[string]string, plan *movein.Plan, err error) {
	leave, err := s.take(ctx, row.TeamID)
	if err != nil {
		return nil, nil, nil, err
	}
	defer leave()
	files, before, err := s.open(tx, *row)
	if err != nil {
		return nil, nil, nil, err
	}
	set = maps.Clone(before)
	if err := s.choose(&row.Choices, set, change, files); err != nil {
		return nil, nil, nil, err
	}
	row.Trusted = maps.Clone(row.Trusted)
	if change.Trust != nil {
		row.Trusted = map[string]contract.Upstream{} // what targets send now is taken
	}
	plan, err = s.planOf(files, *row, set)
	return before, set, plan, err
}

// changeable refuses a change that is based on another state, or while the plan is applied.
func changeable(row models.ImportPlan, ifMatch string) error {
	if err := notApplying(row); err != nil {
		return err
	}
	return access.Unchanged(ifMatch, access.ETag(row.UpdatedAt))
}

func (s *Plans) sealValues(tx *models.Tx, row models.ImportPlan, set map[string]string) (secrets.Sealed, error) {
	if len(set) == 0 {
		return nil, nil
	}
	values, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encode the values of placeholders: %w", err)
	}
	return s.Vault.Seal(tx, row.TeamID, valuesPlace(row.ID), secrets.Secret(values))
}

// choose applies a change to choices and to the values of placeholders.
func (s *Plans) choose(
	c *contract.ImportChoices, set map[string]string, change contract.ImportPlanChange, files *movein.Files,
) error {
	var wrong []fault.Field
	refuse := func(pointer, code, detail string, args ...any) {
		wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: fmt.Sprintf(detail, args...)})
	}
	list := func(name string, into *[]string, from *[]string, most int) {
		if from == nil {
			return
		}
		if len(*from) > most {
			refuse("/"+name, "too_many", "Use at most %s entries.", humanize.Comma(int64(most)))
			return
		}
		*into = []string{}
		for i, text := range *from {
			if text = strings.TrimSpace(text); text == "" || !isText(text) {
				refuse(fmt.Sprintf("/%s/%d", name, i), "invalid", "%s", wrongText)
			} else if !slices.Contains(*into, text) {
				*into = append(*into, text)
			}
		}
	}
	if change.Name != nil {
		c.Name = cmp.Or(*change.Name, files.DefaultName())
		if !contract.IsName(c.Name) {
			refuse("/name", "invalid_name", "Use 2 to 40 lowercase letters, digits or hyphens. Start with a letter "+
				"and don't end with a hyphen.")
		}
	}
	list("open", &c.Open, change.Open, mostChosen)
	list("trust", &c.Trust, change.Trust, mostHosts)
	list("hosts", &c.Hosts, change.Hosts, mostHosts)
	for i, raw := range c.Hosts {
		host, field := s.CheckHost(raw)
		if field != nil {
			refuse(fmt.Sprintf("/hosts/%d", i), field.Code, "%s", field.Detail)
		}
		c.Hosts[i] = host
	}
	for one, to := range map[**bool]*bool{
		&change.Theirs: &c.Theirs, &change.AllowWeak: &c.AllowWeak, &change.RetryOnTimeout: &c.RetryOnTimeout,
	} {
		if *one != nil {
			*to = **one
		}
	}
	wrong = append(wrong, fill(set, change.Set, files.Placeholders())...)
	return fault.InvalidFields(wrong)
}

// fill sets the values of placeholders that a file has.
func fill(
	set map[string]string, values map[string]contract.Secret, known []configfile.Placeholder,
) (wrong []fault.Field) {
	var names []string
	for _, one := range known {
		names = append(names, one.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pointer := "/set/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		switch value := values[name].Reveal(); {
		case !slices.Contains(names, name):
			wrong = append(wrong, fault.Field{
				Pointer: pointer, Code: "unknown",
				Detail: "The file doesn't contain this placeholder. Its placeholders: " + listed(names) + ".",
			})
		case value == "":
			delete(set, name)
		case !isText(value):
			wrong = append(wrong, fault.Field{
				Pointer: pointer, Code: "invalid", Detail: wrongText,
			})
		default:
			set[name] = value
		}
	}
	return wrong
}

// mostNamed is how many placeholders an error names.
const mostNamed = 20

func listed(names []string) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > mostNamed:
		return strings.Join(names[:mostNamed], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// isText reports whether a text has no control characters and isn't too long.
func isText(text string) bool {
	return len(text) <= longest && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}
