package movein

import (
	"bytes"
	"errors"
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/domains"
	"postern/service/projects"
)

// An import finds what earlier ones created from the same source by its records: by the source's IDs, where the file
// has them, and not by the names here. What is as in the file stays unchanged. What was changed in the file only
// becomes as in the file. What was changed here stays, unless the plan says theirs. What the file no longer has is
// listed, and stays.

// comparison is an object of the plan that an earlier import may have created.
type comparison struct {
	kind, source, name, pointer string

	planned []byte
	differs bool // the plan differs in a way that planned doesn't show

	exists func(id string) // called if the object exists; nil: no one needs to know
	create func() error
	update func(id string) error
	count  func(*contract.MovedCounts)
}

// stateKey identifies an object of a project or a tenant.
type stateKey struct{ kind, id string }

// states has a digest of the current state of each object.
type states map[stateKey][]byte

// settle creates or updates an object, or leaves it as it is.
func (w *writing) settle(now states, c comparison) error {
	w.seen[identity{c.kind, c.source}] = true
	prior := w.prior[identity{c.kind, c.source}]
	if prior == nil {
		return c.create()
	}
	state, there := now[stateKey{c.kind, prior.Object}]
	switch {
	case !there && w.plan.Options.Theirs:
		return c.create()
	case !there:
		w.keep(c.kind, prior.Object, c.name, c.pointer, "It was deleted here. To create it again, "+
			overwriteDo)
		return nil
	}
	if c.exists != nil {
		c.exists(prior.Object)
	}
	samePlan, sameHere := bytes.Equal(prior.Planned, c.planned) && !c.differs, bytes.Equal(prior.Written, state)
	switch {
	case samePlan && sameHere:
		w.out.Unchanged++
		return nil
	case !sameHere && !w.plan.Options.Theirs:
		w.keep(c.kind, prior.Object, c.name, c.pointer, keptDetail)
		return nil
	}
	if err := c.update(prior.Object); err != nil {
		return err
	}
	changed := *prior
	changed.Planned = c.planned
	w.changed = append(w.changed, &changed)
	c.count(&w.out.Updated)
	return nil
}

// settleProjects compares the projects that exist with those of the plan.
func (w *writing) settleProjects(tx *models.Tx) error {
	for _, one := range w.parts {
		switch {
		case one.isGone:
			w.seen[identity{kindProject, one.planned.plan.Source}] = true
			w.keep(kindProject, one.row.ID, one.planned.plan.Name, one.planned.plan.From, "It was deleted or moved to "+
				"another team. To create it again, "+overwriteDo)
			for i := range one.planned.versions {
				w.seeVersion(one, &one.planned.versions[i])
			}
		case !one.isNew:
			if err := w.settleProject(tx, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// seeVersion marks the file's objects of a version that isn't compared.
func (w *writing) seeVersion(one *part, v *checkedVersion) {
	source := one.planned.versionSource(v)
	w.seen[identity{kindVersion, source}], w.seen[identity{kindEnvironment, source}] = true, true
	for i := range v.domains {
		w.seen[identity{kindDomain, v.domains[i].row.Address().Key()}] = true
	}
}

func (w *writing) settleProject(tx *models.Tx, one *part) error {
	if err := tx.LockProject(one.row.ID); err != nil {
		return err
	}
	row, err := tx.ProjectByID(one.row.ID)
	if err != nil {
		return err
	}
	if row.TeamID != w.team || row.DeletedAt != nil {
		return errOther
	}
	one.row = row
	now, err := projectStates(tx, row)
	if err != nil {
		return err
	}
	in := one.planned.project
	err = w.settle(now, comparison{
		kind: kindProject, source: one.planned.plan.Source, name: row.Name, pointer: one.planned.plan.From,
		planned: one.planned.planned,
		update: func(string) error {
			if err := w.touch(tx, one); err != nil {
				return err
			}
			one.row.DisplayName, one.row.Limits, one.row.UpdatedAt = in.DisplayName, in.Limits.Stated(), w.now
			one.row.CORS = projects.CORSColumn(in.CORS)
			return tx.SetImportedProject(one.row)
		},
		count: func(c *contract.MovedCounts) { c.Projects++ },
	})
	for i := range one.planned.versions {
		if err == nil {
			err = w.settleVersion(tx, one, i, now)
		}
	}
	return err
}

// touch keeps a project as it is before its first change, for the audit entry.
func (w *writing) touch(tx *models.Tx, one *part) error {
	if one.before != nil || one.isNew {
		return nil
	}
	before, err := w.service.Projects.ViewImported(tx, one.row)
	one.before = &before
	return err
}

// settleVersion compares a version, its environment and its custom domains.
func (w *writing) settleVersion(tx *models.Tx, one *part, at int, now states) error {
	v, in := &one.planned.versions[at], &one.planned.project.Versions[at]
	source := one.planned.versionSource(v)
	var version string
	created := false
	err := w.settle(now, comparison{
		kind: kindVersion, source: source, name: one.row.Name + "/" + v.plan.Name, pointer: v.pointer,
		planned: v.planned,
		differs: slices.ContainsFunc(in.Rules.List, func(rule contract.Rule) bool {
			return slices.ContainsFunc(rule.Groups, func(name string) bool { return w.numbered[name] })
		}),
		exists: func(id string) { version = id },
		create: func() error {
			created = true
			return errors.Join(w.touch(tx, one), w.writeVersion(tx, one, v, in))
		},
		update: func(id string) error {
			row := w.versionRow(one, in)
			row.ID = id
			return errors.Join(w.touch(tx, one), tx.SetImportedVersion(row))
		},
		count: func(c *contract.MovedCounts) { c.Versions++ },
	})
	if err != nil || created {
		return err
	}
	if version == "" { // it was deleted here
		w.seeVersion(one, v)
		return nil
	}
	environment, err := w.settleEnvironment(tx, one, at, now)
	if err != nil || environment == "" {
		w.seeVersion(one, v)
		return err
	}
	for i := range v.domains {
		if err := w.settleDomain(tx, one, &v.domains[i], environment, now); err != nil {
			return err
		}
	}
	return nil
}

// settleEnvironment returns the ID of the environment of a version, "" if it was deleted.
func (w *writing) settleEnvironment(tx *models.Tx, one *part, at int, now states) (id string, err error) {
	v, in := &one.planned.versions[at], &one.planned.project.Versions[at]
	source := one.planned.versionSource(v)
	differs := false
	if prior := w.prior[identity{kindEnvironment, source}]; prior != nil {
		_, certificate, err := tx.UpstreamCertificateOf(prior.Object)
		if err != nil {
			return "", err
		}
		if certificate { // it must not prove its identity to another target
			w.seen[identity{kindEnvironment, source}] = true
			w.keep(kindEnvironment, prior.Object, one.row.Name+"/"+v.plan.Name, v.pointer, "It has a client "+
				"certificate here. To import the environment again, remove the certificate.")
			return prior.Object, nil
		}
		if differs, err = w.headersDiffer(tx, prior.Object, v); err != nil {
			return "", err
		}
	}
	return id, w.settle(now, comparison{
		kind: kindEnvironment, source: source, name: one.row.Name + "/" + v.plan.Name + "/" + in.Environments[0].Name,
		pointer: v.pointer, planned: v.environment, differs: differs,
		exists: func(environment string) { id = environment },
		create: func() error { return nil }, // with its version
		update: func(environment string) error {
			was, _, err := tx.EnvironmentByID(environment)
			if err != nil {
				return err
			}
			row := projects.ImportedEnvironment(&in.Environments[0], w.now)
			row.ID, row.VersionID, row.Name = was.ID, was.VersionID, was.Name
			if err := w.touch(tx, one); err != nil {
				return err
			}
			saved, err := tx.UpdateEnvironment(row, was.UpdatedAt)
			if err == nil && !saved {
				err = errOther
			}
			return errors.Join(err, w.setHeaders(tx, environment, v))
		},
		count: func(c *contract.MovedCounts) { c.Environments++ },
	})
}

// headersDiffer reports whether the values of an environment's upstream headers differ from those of the file.
func (w *writing) headersDiffer(tx *models.Tx, environment string, v *checkedVersion) (bool, error) {
	rows, err := tx.UpstreamHeadersOf(environment)
	if err != nil || len(rows) != len(v.headers) {
		return len(v.headers) > 0, err
	}
	for _, row := range rows {
		at := slices.IndexFunc(v.headers, func(h headerOf) bool { return canonical(h.Name) == row.Name })
		if at < 0 {
			return true, nil
		}
		same, err := w.service.Projects.IsImportedHeader(tx, row, secrets.Secret(v.headers[at].Value))
		if err != nil || !same {
			return true, err
		}
	}
	return false, nil
}

func (w *writing) settleDomain(
	tx *models.Tx, one *part, d *checkedDomain, environment string, now states,
) error {
	name := d.row.Address().Key()
	if prior := w.prior[identity{kindDomain, name}]; prior != nil && prior.Within != one.row.ID {
		return errors.Join(w.touch(tx, one), w.writeDomain(tx, one, d, environment)) // see moveDomains
	}
	return w.settle(now, comparison{
		kind: kindDomain, source: name, name: name, pointer: d.pointer, planned: d.planned,
		create: func() error {
			return errors.Join(w.touch(tx, one), w.writeDomain(tx, one, d, environment))
		},
		update: func(id string) error {
			row, err := tx.DomainByID(id)
			if err != nil {
				return err
			}
			seen := row.UpdatedAt
			row.EnvironmentID, row.StripPrefix, row.UpdatedAt = environment, d.row.StripPrefix, w.now
			row.PathPrefix, row.Methods = d.row.PathPrefix, d.row.Methods
			w.domains = append(w.domains, domains.Imported{Row: row, Pointer: d.pointer})
			saved, err := tx.UpdateDomain(row, seen)
			if err == nil && !saved {
				err = errOther
			}
			return errors.Join(err, w.touch(tx, one))
		},
		count: func(c *contract.MovedCounts) { c.Domains++ },
	})
}

// moveDomains deletes custom domains of other projects that new ones replace: their routes are of another project now.
func (w *writing) moveDomains(tx *models.Tx) error {
	for _, d := range w.domains {
		prior := w.prior[identity{kindDomain, d.Row.Address().Key()}]
		if prior == nil || prior.Object == d.Row.ID {
			continue
		}
		row, err := tx.DomainByID(prior.Object)
		if errors.Is(err, models.ErrNotFound) {
			continue // deleted here
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(prior.Written, domainState(row)) && !w.plan.Options.Theirs {
			continue // changed here: joinDomains refuses the new one
		}
		for _, one := range w.parts {
			if one.row.ID == row.ProjectID {
				if err := w.touch(tx, one); err != nil {
					return err
				}
			}
		}
		w.replaced[d.Row.ID] = true
		if _, err := tx.ShareProof(row, w.team, w.now); err != nil { // so that the name stays proven
			return err
		}
		if err := errors.Join(tx.DeleteDomain(row.ID), tx.AddRevision(row.ProjectID, "", w.now)); err != nil {
			return err
		}
	}
	return nil
}

// listVanished lists what earlier imports created and the file doesn't have.
func (w *writing) listVanished(tx *models.Tx) error {
	for i := range w.before {
		one := &w.before[i]
		switch {
		case one.Kind == kindKeys:
			if err := w.listVanishedKeys(tx, one.Keys); err != nil {
				return err
			}
		case !w.seen[identity{one.Kind, one.Source}] && one.Kind != kindProduct && one.Kind != kindTenant:
			w.out.Vanished.Add(contract.MovedObject{
				Kind: one.Kind, ID: one.Object, Name: one.Source,
				Detail: "It is no longer in the file. Delete it if nothing uses it.",
			})
		}
	}
	return nil
}

func (w *writing) listVanishedKeys(tx *models.Tx, ids []string) error {
	rows, err := tx.KeysByID(ids)
	for i := range rows {
		row := &rows[i]
		known := w.hashes[[32]byte(row.Hash)] || row.OldHash != nil && w.hashes[[32]byte(row.OldHash)]
		if !known && row.State != contract.KeyRevoked && w.imports[row.CreatedAt.UTC()] {
			w.out.Vanished.Add(contract.MovedObject{
				Kind: kindKey, ID: row.ID, Name: row.Owner,
				Detail: "It is no longer in the file. Revoke it if nothing uses it.",
			})
		}
	}
	return err
}
