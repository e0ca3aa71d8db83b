package movein

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Undo takes an import back: all that it created is removed, and no hash of a key is kept, so that the same file can be
// imported again. Errors: NotFound; Conflict with the code import_changed, which lists what was changed since, and
// import_followed if a later import builds on this one.
func (s *Service) Undo(ctx context.Context, p access.Principal, id string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := tx.MoveInByID(id)
		if errors.Is(err, models.ErrNotFound) {
			return access.NotFound()
		}
		if err != nil {
			return err
		}
		if err := mayUndo(p, row.TeamID); err != nil {
			return err
		}
		u := &undoing{tx: tx, p: p, row: row, now: models.Now()}
		return u.all()
	})
	if err != nil {
		return fmt.Errorf("movein: undo %s: %w", id, err)
	}
	s.Changed(ctx)
	if err := s.DB.RemoveUnfinishedImports(context.WithoutCancel(ctx)); err != nil {
		// What is left is invisible. The next import or start removes it.
		s.Projects.Log.WarnContext(ctx, "could not remove the rows of an undone import yet", "import", id, "error", err)
	}
	s.Changed(ctx)
	return nil
}

// mayUndo checks the permission for all that an undo deletes.
func mayUndo(p access.Principal, team string) error {
	for _, action := range []access.Action{
		access.ProjectErase, access.ProjectImport, access.ProjectDelete, access.ProductDelete, access.TenantErase,
		access.KeyChange, access.DomainChange, access.UserUpdate,
	} {
		if err := access.Check(p, team, action); err != nil {
			return err
		}
	}
	return nil
}

// undoing is an attempt at undoing an import.
type undoing struct {
	tx  *models.Tx
	p   access.Principal
	row models.MoveIn
	now time.Time

	objects  []models.MovedObject // of the import
	projects map[string]models.Project
	changed  []string // changes since then, for people
}

func (u *undoing) all() error {
	if err := u.read(); err != nil {
		return err
	}
	if err := u.compare(); err != nil {
		return err
	}
	if len(u.changed) > 0 {
		return changedSince(u.changed)
	}
	if err := u.takeBack(); err != nil {
		return err
	}
	err := u.tx.DeleteMoveIn(u.row.ID)
	if err != nil {
		return err
	}
	return access.Record(u.tx, u.p, access.Entry{
		Action: access.ProjectImport, Object: u.row.ID, Team: u.row.TeamID,
		Detail: map[string]string{"change": "undo", "name": u.row.Name(), "import": u.row.Result.Source},
	})
}

// read reads the records, and refuses an import that later ones build on or that changed earlier ones' objects.
func (u *undoing) read() error {
	if err := u.tx.LockMoveIns(u.row.TeamID); err != nil {
		return err
	}
	if err := undoable(u.tx, u.row); err != nil {
		return err
	}
	all, err := u.tx.MovedObjectsOf(u.row.TeamID, u.row.Gateway)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.MoveInID == u.row.ID {
			u.objects = append(u.objects, one)
		}
	}
	return nil
}

// undoable refuses an import that later ones build on or that changed earlier ones' objects. What it created can have
// been changed since.
func undoable(tx *models.Tx, row models.MoveIn) error {
	imports, err := tx.MoveInsOf(row.TeamID, row.Gateway)
	if err != nil {
		return err
	}
	later := imports[slices.IndexFunc(imports, func(one models.MoveIn) bool { return one.ID == row.ID })+1:]
	for _, one := range later {
		what, err := updated(tx, one)
		if err != nil {
			return err
		}
		if what != "" {
			return fault.New(fault.Conflict, "import_followed", "This import can't be undone, because the later "+
				"import %s changed objects from earlier imports, such as %s. %s", one.ID, what, byHand(row))
		}
	}
	if len(later) > 0 {
		return fault.New(fault.Conflict, "import_followed", "A later import with the same name builds on this one. "+
			"Undo %s first.", later[len(later)-1].ID)
	}
	what, err := updated(tx, row)
	if err != nil || what == "" {
		return err
	}
	return fault.New(fault.Conflict, "import_updated", "This import can't be undone, because it changed objects from "+
		"an earlier import, such as %s. To restore the earlier settings, import the previous files again. %s", what,
		byHand(row))
}

// updated names an object of an earlier import that an import changed, "" if there is none.
func updated(tx *models.Tx, row models.MoveIn) (string, error) {
	one, err := tx.ObjectUpdatedBy(row.TeamID, row.Gateway, []string{row.ID})
	switch {
	case err == nil && (one.Kind == kindProduct || one.Kind == kindTenant):
		return "the " + one.Kind, nil
	case err == nil:
		return "the " + one.Kind + " " + one.Source, nil
	case !errors.Is(err, models.ErrNotFound):
		return "", err
	case row.Result.Updated.Total() > 0:
		return "keys", nil
	}
	return "", nil
}

// byHand says how to remove what imports have created that can't be undone.
func byHand(row models.MoveIn) string {
	return fmt.Sprintf("To remove everything instead, delete the imported projects, the product %s and the tenant %s.",
		row.Result.Product, row.Result.Tenant)
}

// mostChanges is how many changes a refusal lists.
const mostChanges = 20

// changedSince refuses to undo an import of which something was changed since.
func changedSince(changes []string) error {
	slices.Sort(changes)
	changes = slices.Compact(changes)
	rest := ""
	if more := len(changes) - mostChanges; more > 0 {
		changes, rest = changes[:mostChanges], fmt.Sprintf(", and %d more", more)
	}
	return fault.New(fault.Conflict, "import_changed", "The import can't be undone, because these objects were "+
		"changed later: %s%s. Instead, delete unneeded objects one at a time.", strings.Join(changes, ", "), rest)
}

// compare lists the changes since the import.
func (u *undoing) compare() error {
	u.projects = map[string]models.Project{}
	now := states{}
	for _, one := range u.objects {
		var err error
		switch one.Kind {
		case kindProduct, kindTenant:
			err = u.addShared(now, one)
		case kindGroup, kindOwner:
			err = u.addTenant(now, one.Within)
		case kindKeys:
			err = u.compareKeys(one)
		default:
			err = u.addProject(now, one.Within)
		}
		if err != nil {
			return err
		}
	}
	for _, one := range u.objects {
		if one.Kind == kindKeys {
			continue
		}
		name := one.Kind + " " + one.Source
		if one.Kind == kindProduct || one.Kind == kindTenant {
			name = one.Kind
		}
		state, there := now[stateKey{one.Kind, one.Object}]
		switch {
		case !there:
			u.changed = append(u.changed, name+" (deleted)")
		case !bytes.Equal(state, one.Written):
			u.changed = append(u.changed, name)
		}
	}
	return u.compareParts()
}

func (u *undoing) addShared(now states, one models.MovedObject) error {
	if one.Kind == kindProduct {
		row, err := u.tx.ProductByID(one.Object)
		if err == nil && row.TeamID == u.row.TeamID {
			now[stateKey{kindProduct, row.ID}] = productState(row)
		}
		return unlessMissing(err)
	}
	row, err := u.tx.TenantByID(one.Object)
	if err == nil && row.TeamID != nil && *row.TeamID == u.row.TeamID {
		now[stateKey{kindTenant, row.ID}] = tenantState(row)
	}
	return unlessMissing(err)
}

func (u *undoing) addTenant(now states, tenant string) error {
	if now[stateKey{"people", tenant}] != nil {
		return nil
	}
	now[stateKey{"people", tenant}] = []byte{1}
	people, err := tenantStates(u.tx, tenant)
	maps.Copy(now, people)
	return err
}

func (u *undoing) addProject(now states, id string) error {
	if _, known := u.projects[id]; known {
		return nil
	}
	row, err := u.tx.ProjectByID(id)
	if err != nil {
		return unlessMissing(err)
	}
	u.projects[id] = row
	if row.TeamID != u.row.TeamID || row.DeletedAt != nil {
		return nil
	}
	all, err := projectStates(u.tx, row)
	maps.Copy(now, all)
	return err
}

func unlessMissing(err error) error {
	if errors.Is(err, models.ErrNotFound) {
		return nil
	}
	return err
}

// compareKeys lists keys that were changed since: an import writes its own time into them.
func (u *undoing) compareKeys(one models.MovedObject) error {
	rows, err := u.tx.KeysByID(one.Keys)
	if err != nil {
		return err
	}
	if missing := len(one.Keys) - len(rows); missing > 0 {
		u.changed = append(u.changed, fmt.Sprintf("%d keys (deleted)", missing))
	}
	for i := range rows {
		if !rows[i].UpdatedAt.Equal(u.row.CreatedAt) {
			u.changed = append(u.changed, "key "+rows[i].ID)
		}
	}
	return nil
}

// compareParts lists the additions to the projects, the tenant and the product.
func (u *undoing) compareParts() error {
	for _, one := range u.objects {
		var parts map[string]int64
		var err error
		want := map[string]int64{}
		switch one.Kind {
		case kindProject:
			parts, err = u.tx.PartsOfProject(one.Object)
			want["project_tenants"] = 1
			u.count(want, one.Object, map[string]string{
				kindVersion: "versions", kindEnvironment: "environments", kindDomain: "domains", kindKeys: "api_keys",
			})
		case kindTenant:
			parts, err = u.tx.PartsOfTenant(one.Object)
			want["project_tenants"] = u.countKind(kindProject)
			want["api_keys"] = u.countKind(kindKeys)
			u.count(want, one.Object, map[string]string{kindGroup: "user_groups"})
		case kindProduct:
			parts, err = u.tx.PartsOfProduct(one.Object)
			want["projects"], want["api_keys"] = u.countKind(kindProject), u.countKind(kindKeys)
		default:
			continue
		}
		if err != nil {
			return err
		}
		for _, table := range slices.Sorted(maps.Keys(parts)) {
			if more := parts[table] - want[table]; more > 0 {
				u.changed = append(u.changed, fmt.Sprintf("%s of the %s %s (%d more)",
					strings.ReplaceAll(table, "_", " "), one.Kind, u.nameOf(one), more))
			}
		}
	}
	return nil
}

// nameOf returns a project, tenant or product as people know it.
func (u *undoing) nameOf(one models.MovedObject) string {
	switch one.Kind {
	case kindProduct:
		return u.row.Result.Product
	case kindTenant:
		return u.row.Result.Tenant
	}
	return u.projects[one.Object].Name
}

// count adds the objects of the import within another one to what its tables should have.
func (u *undoing) count(want map[string]int64, within string, tables map[string]string) {
	for _, one := range u.objects {
		if table := tables[one.Kind]; table != "" && one.Within == within {
			want[table] += max(1, int64(len(one.Keys)))
		}
	}
}

func (u *undoing) countKind(kind string) (n int64) {
	for _, one := range u.objects {
		if one.Kind == kind {
			n += max(1, int64(len(one.Keys)))
		}
	}
	return n
}

// takeBack removes the objects that the import created. It moves whole projects to a stage, from which their rows are
// removed later.
func (u *undoing) takeBack() error {
	var whole, tenants, products []string
	for _, one := range u.objects {
		switch one.Kind {
		case kindProject:
			whole = append(whole, one.Object)
		case kindTenant:
			tenants = append(tenants, one.Object)
		case kindProduct:
			products = append(products, one.Object)
		}
	}
	revised := map[string]bool{}
	for _, one := range u.objects {
		if err := u.removePart(one, whole, tenants, revised); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(revised)) {
		if err := u.tx.AddRevision(id, "", u.now); err != nil {
			return err
		}
	}
	for _, id := range whole {
		row := u.projects[id]
		err := access.Record(u.tx, u.p, access.Entry{
			Action: access.ProjectErase, Object: id, Team: u.row.TeamID,
			Detail: map[string]string{"name": row.Name, "change": "undo of " + u.row.ID},
		})
		if err == nil {
			err = u.tx.AddRevision(id, "", u.now)
		}
		if err != nil {
			return err
		}
	}
	return u.tx.TakeBack(whole, tenants, products)
}

// removePart removes an object that the import added to an object of an earlier one.
func (u *undoing) removePart(one models.MovedObject, whole, tenants []string, revised map[string]bool) error {
	if slices.Contains(whole, one.Within) || slices.Contains(tenants, one.Within) {
		return nil
	}
	switch one.Kind {
	case kindDomain:
		revised[one.Within] = true
		return u.tx.DeleteDomain(one.Object)
	case kindVersion:
		revised[one.Within] = true
		for _, other := range u.objects {
			if other.Kind != kindDomain || other.Within != one.Within {
				continue
			}
			if err := u.tx.DeleteDomain(other.Object); err != nil {
				return err
			}
		}
		return u.tx.DeleteVersion(one.Object)
	case kindKeys:
		if err := u.tx.AddKeysRevision(one.Within, one.Keys, u.now); err != nil {
			return err
		}
		return u.tx.ForgetKeys(one.Keys)
	case kindOwner, kindGroup:
		tenant, err := u.tx.TenantByID(one.Within)
		if err == nil && one.Kind == kindOwner {
			err = u.tx.LeaveGroups(one.Within, one.Object)
		} else if err == nil {
			err = u.tx.DeleteUserGroup(one.Object)
		}
		if err == nil {
			err = u.tx.AddTenantRevisions(tenant, u.now)
		}
		return err
	}
	return nil
}
