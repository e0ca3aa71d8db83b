package movein

import (
	"cmp"
	"errors"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
)

// ownerSource identifies an owner of keys in the file.
func ownerSource(owner *contract.PlannedOwner) string {
	for _, one := range []string{owner.ConsumerID, owner.CustomID} {
		if one != "" {
			return one
		}
	}
	return owner.Name
}

// nameGroups settles the names of groups. A name that another group of the tenant has gets a number, also in the rules
// of versions: its group must not be let in.
func (w *writing) nameGroups(tx *models.Tx) error {
	if w.newTenant {
		return nil
	}
	chosen := map[string]bool{}
	for i := range w.plan.Groups {
		chosen[w.plan.Groups[i].Name] = true
	}
	for i := range w.plan.Groups {
		planned := w.plan.Groups[i].Name
		if prior := w.prior[identity{kindGroup, planned}]; prior != nil {
			row, err := tx.UserGroupByID(prior.Object)
			if err == nil {
				w.groupNames[planned] = row.Name
				continue
			}
			if !errors.Is(err, models.ErrNotFound) {
				return err
			}
			if !w.plan.Options.Theirs { // it isn't created again
				continue
			}
		}
		name, err := freeName(planned, func(name string) (bool, error) {
			if name != planned && chosen[name] {
				return true, nil
			}
			rows, err := tx.GroupsNamed(w.tenant, []string{name})
			return len(rows) > 0, err
		})
		if err != nil {
			return err
		}
		chosen[name], w.groupNames[planned], w.numbered[planned] = true, name, name != planned
	}
	return nil
}

// groupName returns the name here of a group of the plan.
func (w *writing) groupName(planned string) string { return cmp.Or(w.groupNames[planned], planned) }

// plannedGroup is the digest of a group of the plan.
func plannedGroup(group *contract.NewGroup) []byte { return digest(group.Name, group.DisplayName) }

// groupRow returns the row of a new group.
func (w *writing) groupRow(group *contract.NewGroup) models.UserGroup {
	row := models.UserGroup{
		ID: models.NewID("grp"), TenantID: w.tenant, Name: w.groupName(group.Name), DisplayName: group.DisplayName,
		CreatedAt: w.now, UpdatedAt: w.now,
	}
	if row.Name != group.Name {
		row.DisplayName = cmp.Or(row.DisplayName, group.Name)
	}
	w.groups[group.Name] = row.ID
	w.record(kindGroup, row.ID, w.tenant, group.Name, plannedGroup(group))
	w.out.Created.Groups++
	return row
}

// writeStagedPeople writes the groups and their owners of keys, if the tenant is new.
func (w *writing) writeStagedPeople() error {
	if !w.newTenant {
		return nil
	}
	var groups []models.UserGroup
	for i := range w.plan.Groups {
		groups = append(groups, w.groupRow(&w.plan.Groups[i]))
	}
	if err := insertAll(w.stage, groups); err != nil {
		return err
	}
	var members []models.GroupOwner
	for i := range w.plan.Owners {
		owner := &w.plan.Owners[i]
		if !hasObject(owner) {
			continue
		}
		members = append(members, w.memberships(owner)...)
		w.recordOwner(owner)
	}
	return insertAll(w.stage, members)
}

// hasObject reports whether an owner has anything but keys.
func hasObject(owner *contract.PlannedOwner) bool { return len(owner.Groups) > 0 }

func (w *writing) recordOwner(owner *contract.PlannedOwner) {
	w.record(kindOwner, owner.Name, w.tenant, ownerSource(owner), plannedOwner(owner))
	w.out.Created.Owners++
}

// plannedOwner is the digest of an owner of the plan.
func plannedOwner(owner *contract.PlannedOwner) []byte {
	return digest(slices.Sorted(slices.Values(owner.Groups)))
}

// memberships returns the rows of an owner's groups.
func (w *writing) memberships(owner *contract.PlannedOwner) (out []models.GroupOwner) {
	for _, name := range owner.Groups {
		if id := w.groups[name]; id != "" {
			out = append(out, models.GroupOwner{
				GroupID: id, Owner: owner.Name, Role: snapshot.RoleMember, CreatedAt: w.now,
			})
		}
	}
	return out
}

// insertAll writes rows in the stage, each batch as a piece.
func insertAll[T any](stage models.Stage, rows []T) error {
	for batch := range slices.Chunk(rows, rowsAtOnce) {
		if err := stage.Piece(func(tx *models.Tx) error { return tx.Insert(&batch) }); err != nil {
			return err
		}
	}
	return nil
}

// settlePeople compares the groups and owners of a tenant that exists with those of the plan.
func (w *writing) settlePeople(tx *models.Tx) error {
	if w.newTenant {
		return nil
	}
	states, err := tenantStates(tx, w.tenant)
	if err != nil {
		return err
	}
	for _, one := range w.before { // an owner without groups has no rows
		if key := (stateKey{kindOwner, one.Object}); one.Kind == kindOwner && states[key] == nil {
			states[key] = ownerState(nil)
		}
	}
	for i := range w.plan.Groups {
		if err := w.settleGroup(tx, &w.plan.Groups[i], states); err != nil {
			return err
		}
	}
	for i := range w.plan.Owners {
		owner := &w.plan.Owners[i]
		if hasObject(owner) || w.prior[identity{kindOwner, ownerSource(owner)}] != nil {
			if err := w.settleOwner(tx, owner, states); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writing) settleGroup(tx *models.Tx, group *contract.NewGroup, states states) error {
	return w.settle(states, comparison{
		kind: kindGroup, source: group.Name, name: group.Name, planned: plannedGroup(group),
		exists: func(id string) { w.groups[group.Name] = id },
		create: func() error {
			w.peopleChanged = true
			row := w.groupRow(group)
			err := tx.Insert(&row)
			if errors.Is(err, models.ErrDuplicate) {
				err = fault.New(fault.Conflict, "import_duplicate", "Another request created a group named %q. "+
					"Nothing was imported. Try again.", row.Name).Because(err)
			}
			return err
		},
		update: func(id string) error {
			w.peopleChanged = true
			return tx.UpdateUserGroup(models.UserGroup{
				ID: id, Name: w.groupName(group.Name), DisplayName: group.DisplayName, UpdatedAt: w.now,
			})
		},
		count: func(c *contract.MovedCounts) { c.Groups++ },
	})
}

func (w *writing) settleOwner(tx *models.Tx, owner *contract.PlannedOwner, states states) error {
	join := func() error {
		w.peopleChanged = true
		members := w.memberships(owner)
		if len(members) == 0 {
			return nil
		}
		return tx.Insert(&members)
	}
	return w.settle(states, comparison{
		kind: kindOwner, source: ownerSource(owner), name: owner.Name, planned: plannedOwner(owner),
		create: func() error {
			if _, there := states[stateKey{kindOwner, owner.Name}]; there {
				w.keep(kindOwner, owner.Name, owner.Name, "", "It was added to groups here and differs from the file.")
				return nil
			}
			w.recordOwner(owner)
			return join()
		},
		update: func(name string) error {
			if err := tx.LeaveGroups(w.tenant, name); err != nil {
				return err
			}
			return join()
		},
		count: func(c *contract.MovedCounts) { c.Owners++ },
	})
}
