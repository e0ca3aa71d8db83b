package movein

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/movein"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/turns"
	"postern/service/access"
	"postern/service/domains"
	"postern/service/projects"
)

// Service writes the plans of imports from other gateways, and takes them back.
type Service struct {
	DB       *models.DB
	Projects *projects.Service
	Domains  *domains.Service
	Changed  func(context.Context) // called after a commit; returns when this process serves the change
}

// errUnchanged undoes an import that changes nothing.
var errUnchanged = errors.New("movein: everything matches the file")

// Write creates everything of a plan in a team, which is the principal's home team if team is "". Callers and lists see
// nothing of it before the end. What an earlier import created from the same source isn't created again: see again.go.
// Errors: Invalid with fields that point into the file, Conflict if names, host names or keys are taken.
func (s *Service) Write(
	ctx context.Context, p access.Principal, team string, plan *movein.Plan,
) (contract.MovedIn, error) {
	team = cmp.Or(team, p.HomeTeam)
	if err := allowed(p, team, plan); err != nil {
		return contract.MovedIn{}, fmt.Errorf("movein: write: %w", err)
	}
	checked, err := s.check(ctx, p, plan)
	if err != nil {
		return contract.MovedIn{}, fmt.Errorf("movein: write: %w", err)
	}
	var w *writing
	write := func(stage models.Stage) error {
		w = newWriting(s, p, team, plan, checked)
		w.stage = stage
		return w.write()
	}
	defer turns.Background()() // so that calls don't wait for it
	err = s.DB.Import(ctx, write, func(tx *models.Tx) error { return w.finish(tx) })
	switch {
	case errors.Is(err, errUnchanged):
		return w.out, nil
	case errors.Is(err, models.ErrDuplicate), errors.Is(err, models.ErrReferenced):
		err = fault.New(fault.Conflict, "import_duplicate", "Another request used a name or key from the file, or "+
			"deleted an object from an earlier import. Nothing was imported. Try again.").Because(err)
	}
	if err != nil {
		return contract.MovedIn{}, fmt.Errorf("movein: write: %w", err)
	}
	s.Changed(ctx)
	return w.out, nil
}

// allowed checks the permission for all that a plan creates: a token may have been given the right to create projects,
// and not the right to create keys.
func allowed(p access.Principal, team string, plan *movein.Plan) error {
	if team == "" && !p.Anonymous() {
		return fault.New(fault.Conflict, "no_team", "You aren't in a team. Create one, or ask for an invitation.")
	}
	needed := []access.Action{
		access.ProjectImport, access.ProjectCreate, access.ProjectUpdate, access.ProductCreate, access.TenantCreate,
	}
	if len(plan.Groups) > 0 {
		needed = append(needed, access.UserUpdate)
	}
	if plan.Keys.Imported > 0 {
		needed = append(needed, access.KeyCreate)
	}
	if slices.ContainsFunc(plan.Projects, func(one contract.PlannedProject) bool {
		return slices.ContainsFunc(one.Versions, func(v contract.PlannedVersion) bool { return len(v.Domains) > 0 })
	}) {
		needed = append(needed, access.DomainChange)
	}
	for _, action := range needed {
		if err := access.Check(p, team, action); err != nil {
			return err
		}
	}
	if len(plan.Projects) == 0 {
		return fault.New(fault.Invalid, "nothing_to_import", "The file has no service or API that can be imported. "+
			"See the plan's items for the reasons.")
	}
	return nil
}

// kinds of objects in models.MovedObject.
const (
	kindProduct     = "product"
	kindTenant      = "tenant"
	kindProject     = "project"
	kindVersion     = "version"
	kindEnvironment = "environment"
	kindDomain      = "domain"
	kindGroup       = "group"
	kindOwner       = "owner"
	kindKeys        = "keys" // several
	kindKey         = "key"  // only in results
)

// identity identifies an object of a source.
type identity struct{ kind, source string }

// writing is one attempt at writing a plan.
type writing struct {
	service *Service
	p       access.Principal
	team    string
	gateway string // with the name of the import, such as kong/staging
	plan    *movein.Plan
	checked *checked
	now     time.Time
	stage   models.Stage

	before  []models.MovedObject // of earlier imports
	prior   map[identity]*models.MovedObject
	imports map[time.Time]bool // when earlier imports were written

	product, tenant       string // IDs
	newProduct, newTenant bool
	groups                map[string]string // IDs by name in the plan
	groupNames            map[string]string // names here by name in the plan, if the tenant isn't new
	numbered              map[string]bool   // names in the plan of new groups that have another name here
	home                  models.Project    // keys are created in it
	homeIsNew             bool
	keyType               string            // ID, in home
	hashes                map[[32]byte]bool // of the plan
	existing              map[[32]byte]*models.APIKey
	revoked               map[[32]byte]bool

	parts   []*part
	rows    []models.Project // new projects, which the team gets at the end
	domains []domains.Imported
	made    []models.MovedObject
	changed []*models.MovedObject // objects of earlier imports that this one changed
	seen    map[identity]bool

	replaced      map[string]bool // IDs of new custom domains that replace one of another project
	peopleChanged bool            // groups or owners of a tenant that isn't new

	out contract.MovedIn
}

func newWriting(
	s *Service, p access.Principal, team string, plan *movein.Plan, checked *checked,
) *writing {
	w := &writing{
		service: s, p: p, team: team, plan: plan, checked: checked, now: models.Now(),
		prior: map[identity]*models.MovedObject{}, imports: map[time.Time]bool{}, groups: map[string]string{},
		groupNames: map[string]string{}, numbered: map[string]bool{},
		hashes: map[[32]byte]bool{}, seen: map[identity]bool{}, replaced: map[string]bool{},
	}
	gateway, _, _ := strings.Cut(plan.Source, " ")
	w.gateway = gateway + "/" + plan.Product
	for _, one := range checked.parts {
		w.parts = append(w.parts, &part{planned: one})
	}
	none := contract.MovedList{Items: []contract.MovedObject{}}
	w.out = contract.MovedIn{
		Team: team, Source: plan.Source, Product: plan.Product, Tenant: plan.Tenant,
		Projects: []contract.MovedProject{}, ToDo: toDo(plan), Kept: none, Vanished: none, CreatedAt: w.now.UTC(),
	}
	return w
}

// toDo returns the lines of a plan with something left to do, without the names of keys and people, since a record of
// an import is kept after they are gone.
func toDo(plan *movein.Plan) []contract.LedgerLine {
	out := []contract.LedgerLine{}
	for _, line := range plan.Lines() {
		if line.Remedy != nil {
			line.Names = []string{}
			out = append(out, line)
		}
	}
	return out
}

// write writes new projects, with the tenant and the keys if they are new too, in the stage.
func (w *writing) write() error {
	for _, step := range []func() error{
		w.read, w.writeProjects, w.writeProduct, w.writeTenant, w.writeStagedPeople, w.writeStagedKeys,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// read reads the objects that earlier imports created, and decides which objects are new.
func (w *writing) read() error {
	return w.stage.Piece(func(tx *models.Tx) error {
		var err error
		if w.before, err = tx.MovedObjectsOf(w.team, w.gateway); err != nil {
			return err
		}
		for i := range w.before {
			one := &w.before[i]
			if one.Kind != kindKeys {
				w.prior[identity{one.Kind, one.Source}] = one
			}
		}
		if err := w.sameSource(); err != nil {
			return err
		}
		earlier, err := tx.MoveInsOf(w.team, w.gateway)
		if err != nil {
			return err
		}
		for _, one := range earlier {
			w.imports[one.CreatedAt.UTC()] = true
		}
		for _, one := range w.parts {
			if err := w.find(tx, one); err != nil {
				return err
			}
		}
		if err := w.findShared(tx); err != nil {
			return err
		}
		return w.nameGroups(tx)
	})
}

// sameSource refuses a file that is probably of another gateway than the earlier imports of this name: it would change
// their projects, and let its keys call them.
func (w *writing) sameSource() error {
	var had, has int
	for i := range w.before {
		if w.before[i].Kind == kindProject {
			had++
		}
	}
	for _, one := range w.parts {
		if w.prior[identity{kindProject, one.planned.plan.Source}] != nil {
			has++
		}
	}
	if 2*has >= had || w.plan.Options.Theirs {
		return nil
	}
	_, name, _ := strings.Cut(w.gateway, "/")
	return fault.New(fault.Conflict, "other_source", "These files contain fewer than half of the projects from the "+
		"earlier import %s, so they may be from another gateway. To import them separately, use another name. To "+
		"continue, use the option to overwrite changes (theirs).", name)
}

// find finds the project of a part that an earlier import created.
func (w *writing) find(tx *models.Tx, one *part) error {
	prior := w.prior[identity{kindProject, one.planned.plan.Source}]
	if prior == nil {
		one.isNew = true
		return nil
	}
	row, err := tx.ProjectByID(prior.Object)
	switch {
	case errors.Is(err, models.ErrNotFound), err == nil && (row.TeamID != w.team || row.DeletedAt != nil):
		one.isGone, one.row.ID = true, prior.Object
		if w.plan.Options.Theirs {
			one.isNew, one.isGone = true, false
		}
		return nil
	}
	one.row = row
	return err
}

// findShared finds the product, the tenant and the project with the keys.
func (w *writing) findShared(tx *models.Tx) error {
	w.newProduct, w.newTenant, w.homeIsNew = true, true, true
	if prior := w.prior[identity{kindProduct, plainSource}]; prior != nil {
		row, err := tx.ProductByID(prior.Object)
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			return err
		}
		if err == nil && row.TeamID == w.team {
			w.newProduct, w.product, w.out.Product = false, row.ID, row.Name
		}
	}
	if prior := w.prior[identity{kindTenant, plainSource}]; prior != nil {
		row, err := tx.TenantByID(prior.Object)
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			return err
		}
		if err == nil && row.TeamID != nil && *row.TeamID == w.team {
			w.newTenant, w.tenant, w.out.Tenant = false, row.ID, row.Name
		}
	}
	if err := w.findHome(tx); err != nil {
		return err
	}
	hasNew := slices.ContainsFunc(w.parts, func(one *part) bool { return one.isNew })
	if (w.newProduct || w.newTenant || w.homeIsNew) && !hasNew {
		return fault.New(fault.Conflict, "import_deleted", "The product, tenant or projects from an earlier import "+
			"were deleted here. To create deleted projects again, "+overwriteDo)
	}
	return nil
}

// plainSource identifies the product and the tenant: every import of a gateway's files has one.
const plainSource = "*"

// findHome finds the project that keys are created in.
func (w *writing) findHome(tx *models.Tx) error {
	ids := make([]string, 0, len(w.before))
	for i := range w.before {
		if w.before[i].Kind == kindKeys {
			ids = append(ids, w.before[i].Within)
		}
	}
	for i := range w.before {
		if w.before[i].Kind == kindProject {
			ids = append(ids, w.before[i].Object)
		}
	}
	if w.newProduct || w.newTenant { // their keys are of a former tenant
		return nil
	}
	for _, id := range slices.Compact(ids) {
		row, err := tx.ProjectByID(id)
		if errors.Is(err, models.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if row.TeamID != w.team || row.DeletedAt != nil || row.ProductID == nil || *row.ProductID != w.product {
			continue
		}
		types, err := tx.KeyTypesOf(row.ID)
		w.home, w.homeIsNew, w.keyType = row, false, fullType(types)
		return err
	}
	return nil
}

// keep adds an object that stays different from the file.
func (w *writing) keep(kind, id, name, pointer, detail string) {
	w.out.Kept.Add(contract.MovedObject{Kind: kind, ID: id, Name: name, Pointer: pointer, Detail: detail})
}

// record records an object that this import creates.
func (w *writing) record(kind, object, within, source string, planned []byte) {
	w.seen[identity{kind, source}] = true
	w.made = append(w.made, models.MovedObject{
		ID: models.NewID("mvo"), TeamID: w.team, Gateway: w.gateway, Kind: kind, Object: object, Within: within,
		Source: source, Planned: planned,
	})
}
