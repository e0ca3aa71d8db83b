package movein

import (
	"slices"
	"strconv"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/domains"
)

// finish gives the new projects to the team, settles those that exist, and records the import. All of it becomes
// visible together.
func (w *writing) finish(tx *models.Tx) error {
	if err := w.begin(tx); err != nil {
		return err
	}
	for _, step := range []func(*models.Tx) error{
		w.handOver, w.settleProjects, w.moveDomains, w.joinDomains, w.settlePeople, w.settleKeys, w.fit, w.listVanished,
		w.report,
	} {
		if err := step(tx); err != nil {
			return err
		}
	}
	return nil
}

// begin refuses to finish if another import of the team was written after this one read the existing objects.
func (w *writing) begin(tx *models.Tx) error {
	if err := tx.LockMoveIns(w.team); err != nil {
		return err
	}
	now, err := tx.MovedObjectsOf(w.team, w.gateway)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(now, w.before, func(a, b models.MovedObject) bool { return a.ID == b.ID })
	if !same {
		return fault.New(fault.Conflict, "import_overtaken", "Another import into this team ran at the same time. "+
			"Nothing was imported. Try again.")
	}
	return nil
}

// handOver gives the new projects, the product and the tenant to the team.
func (w *writing) handOver(tx *models.Tx) error {
	for i := range w.rows {
		w.rows[i].ProductID = &w.product
	}
	for _, one := range w.parts {
		if one.isNew {
			one.row.ProductID = &w.product
		}
	}
	var tenants []string
	if w.newTenant {
		tenants = []string{w.tenant}
	}
	if err := tx.HandOver(w.stage, tenants, w.rows...); err != nil {
		return err
	}
	for _, row := range w.rows {
		attached := models.ProjectTenant{ProjectID: row.ID, TenantID: w.tenant, CreatedAt: w.now}
		if _, err := tx.AttachTenant(attached); err != nil {
			return err
		}
	}
	return nil
}

// joinDomains gives new and changed custom domains the proof of their hosts.
func (w *writing) joinDomains(tx *models.Tx) error {
	owners, counts := map[string]models.Project{}, map[string]int{}
	for _, one := range w.parts {
		owners[one.row.ID] = one.row
	}
	for _, d := range w.domains {
		counts[d.Row.ProjectID]++
	}
	var wrong []fault.Field
	for _, one := range w.parts {
		if counts[one.row.ID] == 0 || one.isNew {
			continue
		}
		n, err := tx.CountDomains(one.row.ID)
		if err != nil {
			return err
		}
		if field := domains.TooMany(int(n)); field != nil {
			field.Pointer = one.planned.plan.From
			wrong = append(wrong, *field)
		}
	}
	fields, err := w.service.Domains.JoinImported(tx, owners, w.domains)
	if err != nil {
		return err
	}
	wrong = append(wrong, fields...)
	if len(wrong) == 0 {
		return nil
	}
	if len(wrong) > maxFields {
		wrong = wrong[:maxFields]
	}
	return &fault.Error{
		Kind: fault.Conflict, Code: "domains_taken",
		Public: "Some domains in the file can't be created. Nothing was imported. Remove the hosts from the routes " +
			"in the file, or delete the existing domains with these host names.",
		Fields: wrong,
	}
}

// fit checks what needs whole projects.
func (w *writing) fit(tx *models.Tx) error {
	for _, row := range w.rows {
		if err := w.service.Projects.FitsImported(tx, row); err != nil {
			return err
		}
	}
	if w.out.Created.Keys == 0 {
		return nil
	}
	others, err := tx.MarkImportedKeys(w.home.ID, &w.product)
	if err != nil {
		return err
	}
	for _, id := range others {
		if err := tx.AddRevision(id, "", w.now); err != nil {
			return err
		}
	}
	return nil
}

// report writes the records, the audit entries and the revisions. It returns errUnchanged if nothing was changed.
func (w *writing) report(tx *models.Tx) error {
	for _, one := range w.parts {
		if one.isGone {
			continue
		}
		if err := w.reportProject(tx, one); err != nil {
			return err
		}
		w.out.Projects = append(w.out.Projects, w.moved(one))
	}
	if w.out.Created.Total()+w.out.Updated.Total() == 0 {
		return errUnchanged
	}
	if w.peopleChanged {
		tenant, err := tx.TenantByID(w.tenant)
		if err == nil {
			err = tx.AddTenantRevisions(tenant, w.now)
		}
		if err != nil {
			return err
		}
	}
	w.out.ID = models.NewID("imp")
	if err := w.remember(tx); err != nil {
		return err
	}
	if w.out.Created.Keys >= manyKeys {
		if err := tx.AnalyzeKeys(); err != nil {
			return err
		}
	}
	count := func(c contract.MovedCounts) string { return strconv.FormatInt(c.Total(), 10) }
	return access.Record(tx, w.p, access.Entry{
		Action: access.ProjectImport, Object: w.out.ID, Team: w.team,
		Detail: map[string]string{
			"name": w.plan.Product, "import": w.plan.Source,
			"created": count(w.out.Created), "updated": count(w.out.Updated),
			"unchanged": strconv.FormatInt(w.out.Unchanged, 10), "keys": strconv.FormatInt(w.out.Created.Keys, 10),
			"product": w.product, "tenant": w.tenant,
		},
	})
}

// manyKeys is a number of keys with which the database plans queries badly until its statistics include them.
const manyKeys = 10_000

// reportProject writes the audit entry and the revision of a project that is new or changed.
func (w *writing) reportProject(tx *models.Tx, one *part) error {
	now, err := w.service.Projects.ViewImported(tx, one.row)
	if err != nil {
		return err
	}
	for _, v := range now.Project.Versions {
		for _, e := range v.Environments {
			if e.URL != "" {
				one.urls = append(one.urls, e.URL)
			}
		}
	}
	entry := access.Entry{
		Action: access.ProjectImport, Object: one.row.ID, Team: w.team,
		Detail: map[string]string{"name": one.row.Name, "import": w.plan.Source}, After: now,
	}
	switch {
	case one.isNew:
	case one.before != nil:
		entry.Action, entry.Before, entry.Detail["change"] = access.ProjectUpdate, *one.before, "import"
	default:
		return nil
	}
	if err := access.Record(tx, w.p, entry); err != nil {
		return err
	}
	return tx.AddRevision(one.row.ID, "", w.now)
}

// remember records the import and its objects, with digests of the objects as written.
func (w *writing) remember(tx *models.Tx) error {
	all, err := w.statesNow(tx)
	if err != nil {
		return err
	}
	move := models.MoveIn{ID: w.out.ID, TeamID: w.team, Gateway: w.gateway, Result: w.out, CreatedAt: w.now}
	if err := tx.Insert(&move); err != nil {
		return err
	}
	replaced := map[identity]bool{}
	for i := range w.made {
		one := &w.made[i]
		if one.MoveInID = w.out.ID; w.replaced[one.Object] {
			one.UpdatedBy = &w.out.ID
		}
		one.Written = all[stateKey{one.Kind, one.Object}]
		if one.Written == nil {
			one.Written = digest(one.Kind)
		}
		replaced[identity{one.Kind, one.Source}] = one.Kind != kindKeys
	}
	var gone []string
	for i := range w.before { // deleted here, and created again
		if replaced[identity{w.before[i].Kind, w.before[i].Source}] {
			gone = append(gone, w.before[i].ID)
		}
	}
	if err := tx.DeleteMovedObjects(gone); err != nil {
		return err
	}
	for batch := range slices.Chunk(w.made, rowsAtOnce) {
		for i := range batch {
			if batch[i].Planned == nil {
				batch[i].Planned = []byte{}
			}
		}
		if err := tx.Insert(&batch); err != nil {
			return err
		}
	}
	for _, one := range w.changed {
		state, there := all[stateKey{one.Kind, one.Object}]
		if !there {
			state = ownerState(nil) // it has left all groups
		}
		one.Written, one.UpdatedBy = state, &w.out.ID
		if err := tx.UpdateMovedObject(*one); err != nil {
			return err
		}
	}
	return nil
}

// statesNow returns the digests of all objects of the plan.
func (w *writing) statesNow(tx *models.Tx) (states, error) {
	all, err := tenantStates(tx, w.tenant)
	if err != nil {
		return nil, err
	}
	for _, one := range w.parts {
		if one.isGone {
			continue
		}
		row, err := tx.ProjectByID(one.row.ID)
		if err != nil {
			return nil, err
		}
		now, err := projectStates(tx, row)
		if err != nil {
			return nil, err
		}
		for key, state := range now {
			all[key] = state
		}
	}
	product, err := tx.ProductByID(w.product)
	if err != nil {
		return nil, err
	}
	tenant, err := tx.TenantByID(w.tenant)
	all[stateKey{kindProduct, w.product}] = productState(product)
	all[stateKey{kindTenant, w.tenant}] = tenantState(tenant)
	return all, err
}

func productState(row models.Product) []byte { return digest(row.Name, row.DisplayName) }

func tenantState(row models.Tenant) []byte {
	return digest(row.Name, row.DisplayName, row.FallbackOwner, row.CORS)
}
