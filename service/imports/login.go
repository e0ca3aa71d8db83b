package imports

import (
	"context"
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/service/appclients"
)

// writeLogins creates the app clients of the tenants that are new here, with their providers.
func (w *work) writeLogins(context.Context) error {
	for _, t := range w.project.Tenants {
		if w.existing[t.ID] {
			continue
		}
		for i := range w.checked.clients[t.ID] {
			err := w.stage.Piece(func(tx *models.Tx) error {
				return w.writeClient(tx, &w.checked.clients[t.ID][i], w.tenants[t.ID].ID)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *work) writeClient(tx *models.Tx, in *appclients.Imported, tenant string) error {
	row := in.Client
	id, err := w.keepID(tx, &models.AppClient{}, "cli", "app clients", row.ID)
	if err != nil {
		return err
	}
	if id == row.ID && slices.Contains(w.checked.usedClients, id) {
		id = models.NewID("cli")
		w.changedIDs["app clients"]++
	}
	w.clients[row.ID] = id
	row.ID, row.TenantID, row.CreatedAt = id, tenant, stored(row.CreatedAt)
	if err := tx.Insert(&row); err != nil {
		return err
	}
	w.out.Made.AppClients++
	var rows []models.Provider
	for _, p := range in.Providers {
		old := p.ID
		if p.ID, err = w.keepID(tx, &models.Provider{}, "idp", "providers", old); err != nil {
			return err
		}
		w.providers[old] = p.ID
		p.AppClientID, p.CreatedAt = row.ID, stored(p.CreatedAt)
		if err := tx.Insert(&p); err != nil {
			return err
		}
		w.out.Made.Providers++
		rows = append(rows, p)
	}
	return appclients.CheckImportedDomains(tx, rows)
}

// writeMappings creates the rules by which claims put users into groups, whose groups exist by now.
func (w *work) writeMappings(context.Context) error {
	for _, t := range w.project.Tenants {
		if w.existing[t.ID] {
			continue
		}
		ids := map[string]string{} // of the zip, by name
		if t.Directory != nil {
			for _, g := range t.Directory.Groups {
				ids[g.Name] = g.ID
			}
		}
		for _, one := range w.checked.clients[t.ID] {
			for i, p := range one.Providers {
				err := w.stage.Piece(func(tx *models.Tx) error {
					return w.writeMappingsOf(tx, p, one.Mappings[i], ids)
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *work) writeMappingsOf(
	tx *models.Tx, p models.Provider, rules []models.GroupMapping, groups map[string]string,
) error {
	var rows []models.GroupMapping
	for _, rule := range rules {
		group, have := groups[rule.GroupID]
		if !have { // the export left out the people, and their groups with them
			w.out.LeftOut = append(w.out.LeftOut, contract.LeftOut{
				Code:    "group_mapping",
				Subject: rule.Claim + " = " + rule.Value,
				Detail: "The rule names the group " + rule.GroupID + ", which isn't in the zip. Create the group and " +
					"the rule again.",
			})
			continue
		}
		rule.ProviderID, rule.Position, rule.GroupID = w.providers[p.ID], int64(len(rows)), w.groups[group]
		rows = append(rows, rule)
		if !slices.ContainsFunc(w.mapped[group], func(o models.Provider) bool { return o.ID == p.ID }) {
			w.mapped[group] = append(w.mapped[group], p)
		}
	}
	return tx.SetGroupMappings(w.providers[p.ID], rows)
}
