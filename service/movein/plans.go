package movein

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"

	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/movein"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/listjson"
	"postern/platform/secrets"
	"postern/platform/turns"
	"postern/service/access"
)

// Plans keeps the files of other gateways, and plans their import again and again until it is applied. Of a file, it
// keeps the hashes of its keys and, sealed, everything else. It doesn't apply the plan.
type Plans struct {
	DB        *models.DB
	Vault     *secrets.Vault
	CheckHost func(raw string) (string, *fault.Field) // of a custom domain
	Reaches   func(netip.Addr) bool                   // whether this installation connects to an address; nil: to none
	Writer    Writer
	Lease     time.Duration // how long a plan is claimed by a process that was killed; 0: a minute

	// Dial connects to targets, through the egress guard; nil: they aren't tested.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	places turns.Places // for work on files, by team
	tests  tests
}

// Bounds on plans.
const (
	keepPlans      = 24 * time.Hour
	mostPlans      = 10              // of a team
	placeAgain     = 5 * time.Second // after which a request that gets no place should come again
	planIDPrefix   = "pln"
	planFileSuffix = "-plan.json"
)

// needed are the permissions for a plan: those for all that an import can create.
var needed = []access.Action{
	access.ProjectImport, access.ProjectCreate, access.ProjectUpdate, access.KeyCreate, access.TenantCreate,
	access.ProductCreate, access.UserUpdate, access.DomainChange,
}

func check(p access.Principal, team string) error {
	for _, action := range needed {
		if err := access.Check(p, team, action); err != nil {
			return err
		}
	}
	return nil
}

// Create plans the import of files into a team, the home team by default. Errors: Invalid with the field /file for a
// file that can't be read; TooLarge; Conflict too_many_plans.
func (s *Plans) Create(
	ctx context.Context, p access.Principal, in contract.NewImport, files []movein.File,
) (contract.PlannedImport, error) {
	row, plan, err := s.create(ctx, p, in, files)
	if err != nil {
		return contract.PlannedImport{}, fmt.Errorf("movein: plan: %w", err)
	}
	return withTargets(shown(row, nil, plan), s.test(ctx, row.ID, plan)), nil
}

func (s *Plans) create(
	ctx context.Context, p access.Principal, in contract.NewImport, files []movein.File,
) (row models.ImportPlan, plan *movein.Plan, err error) {
	if in.Team == "" {
		in.Team = p.HomeTeam
	}
	if err = check(p, in.Team); err == nil {
		err = onlyForZips(in)
	}
	if err != nil {
		return row, nil, err
	}
	leave, err := s.take(ctx, in.Team)
	if err != nil {
		return row, nil, err
	}
	defer leave()
	read, err := movein.Read(files)
	if err != nil {
		return row, nil, refused(err)
	}
	now := models.Now()
	row = models.ImportPlan{
		ID: models.NewID(planIDPrefix), TeamID: in.Team, CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(keepPlans),
	}
	row.Choices.Name = read.DefaultName()
	row.Choices.Open, row.Choices.Hosts, row.Choices.Trust = []string{}, []string{}, []string{}
	row.Trusted = map[string]contract.Upstream{}
	if plan, err = s.planOf(read, row, nil); err != nil {
		return row, nil, err
	}
	packed, err := read.MarshalBinary()
	if err != nil {
		return row, nil, err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := room(tx, in.Team); err != nil {
			return err
		}
		if row.File, err = s.Vault.Seal(tx, row.TeamID, filePlace(row.ID), secrets.Secret(packed)); err != nil {
			return err
		}
		if err := tx.Insert(&row); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.ProjectImport, Object: row.ID, Team: row.TeamID,
			Detail: map[string]string{"change": "plan", "name": row.Choices.Name}, After: settingsOf(row, nil),
		})
	})
	return row, plan, err
}

// onlyForZips refuses what only exported zips have.
func onlyForZips(in contract.NewImport) error {
	var wrong []fault.Field
	for _, one := range []struct {
		pointer string
		isSent  bool
	}{
		{"/name", in.Name != ""},
		{"/sha256", in.SHA256 != ""},
		{"/signed_by", in.SignedBy != ""},
		{"/dry_run", in.DryRun},
		{"/apply", in.Apply},
	} {
		if one.isSent {
			wrong = append(wrong, fault.Field{
				Pointer: one.pointer, Code: "only_zips",
				Detail: "Leave this out. It is only for exported zips. Importing files from other " +
					"gateways creates a plan, which you apply later.",
			})
		}
	}
	return fault.InvalidFields(wrong)
}

// room refuses one plan too many.
func room(tx *models.Tx, team string) error {
	n, err := tx.CountImportPlans(team)
	if err == nil && n >= mostPlans {
		err = fault.New(fault.Conflict, "too_many_plans", "This team has the maximum of %d import plans. Apply or "+
			"delete one first.", mostPlans)
	}
	return err
}

// Get returns a plan.
func (s *Plans) Get(ctx context.Context, p access.Principal, in contract.ImportPath) (contract.PlannedImport, error) {
	row, set, plan, err := s.load(ctx, p, in.Import)
	if err != nil {
		return contract.PlannedImport{}, fmt.Errorf("movein: get %s: %w", in.Import, err)
	}
	return withTargets(shown(row, set, plan), s.test(ctx, row.ID, plan)), nil
}

// MayRead reports whether the principal may read a plan: the check of a download while it is sent.
func (s *Plans) MayRead(ctx context.Context, p access.Principal, in contract.ImportPath) error {
	_, err := find(s.DB.Read(ctx), p, in.Import)
	return err
}

// Download returns a plan with all of its items.
func (s *Plans) Download(ctx context.Context, p access.Principal, in contract.ImportPath) (contract.File, error) {
	row, _, plan, err := s.load(ctx, p, in.Import)
	var text []byte
	if err == nil {
		text, err = listjson.Marshal(plan.ImportPlan)
	}
	if err != nil {
		return contract.File{}, fmt.Errorf("movein: download %s: %w", in.Import, err)
	}
	return contract.File{
		Name: row.ID + planFileSuffix, Size: int64(len(text)), WroteAt: row.UpdatedAt,
		ReadCloser: io.NopCloser(bytes.NewReader(text)),
	}, nil
}

// mostListed is how many imports of a team a list has.
const mostListed = 200

// List returns the plans that haven't been applied in the principal's teams, or in one of them, and the last imports,
// newest first.
func (s *Plans) List(
	ctx context.Context, p access.Principal, in contract.ImportList,
) (contract.List[contract.ImportSummary], error) {
	var out contract.List[contract.ImportSummary]
	var teams []string
	for _, team := range p.TeamsFor(access.ProjectImport) {
		if check(p, team) == nil {
			teams = append(teams, team)
		}
	}
	if in.Team != "" {
		teams = []string{in.Team}
	}
	if len(teams) == 0 {
		return out, check(p, p.HomeTeam)
	}
	tx, now := s.DB.Read(ctx), models.Now()
	for _, team := range teams {
		if err := check(p, team); err != nil {
			return out, fmt.Errorf("movein: list: %w", err)
		}
		plans, err := tx.ImportPlansOf(team, now)
		if err != nil {
			return out, fmt.Errorf("movein: list: %w", err)
		}
		for _, row := range plans {
			one := contract.ImportSummary{
				ID: row.ID, Team: team, State: contract.ImportPlanned, Name: row.Choices.Name,
				CreatedAt: row.CreatedAt.UTC(), ExpiresAt: new(row.ExpiresAt.UTC()),
			}
			if notApplying(row) != nil {
				one.State = contract.ImportApplying
			}
			out.Items = append(out.Items, one)
		}
		applied, err := tx.LastMoveIns(team, mostListed)
		if err != nil {
			return out, fmt.Errorf("movein: list: %w", err)
		}
		for _, row := range applied {
			out.Items = append(out.Items, contract.ImportSummary{
				ID: row.ID, Team: team, State: contract.ImportApplied, Name: row.Name(),
				CreatedAt: row.CreatedAt.UTC(),
			})
		}
	}
	slices.SortStableFunc(out.Items, func(a, b contract.ImportSummary) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out, nil
}

// Delete deletes a plan.
func (s *Plans) Delete(ctx context.Context, p access.Principal, in contract.ImportPath) (contract.None, error) {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := find(tx, p, in.Import)
		if err == nil {
			err = notApplying(row)
		}
		if err != nil {
			return err
		}
		if err := tx.DeleteImportPlan(row.ID); err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.ProjectImport, Object: row.ID, Team: row.TeamID,
			Detail: map[string]string{"change": "delete", "name": row.Choices.Name}, Before: settingsOf(row, nil),
		})
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("movein: delete %s: %w", in.Import, err)
	}
	return contract.None{}, nil
}

func find(tx *models.Tx, p access.Principal, id string) (models.ImportPlan, error) {
	if p.Anonymous() {
		return models.ImportPlan{}, access.Check(p, "", access.ProjectImport)
	}
	row, err := tx.ImportPlanByID(id)
	if errors.Is(err, models.ErrNotFound) || err == nil && !row.ExpiresAt.After(models.Now()) {
		return row, noPlan(tx, p, id)
	}
	if err != nil {
		return row, err
	}
	return row, check(p, row.TeamID)
}

// noPlan explains why an ID has no plan: it doesn't exist, or it belongs to an applied import.
func noPlan(tx *models.Tx, p access.Principal, id string) error {
	applied, err := tx.MoveInByID(id)
	if errors.Is(err, models.ErrNotFound) {
		return access.NotFound()
	}
	if err == nil {
		err = check(p, applied.TeamID)
	}
	if err != nil {
		return err
	}
	return fault.New(fault.Conflict, "import_applied", "This import was applied, so it no longer has a plan. To see "+
		"what it created, run: postern imports show %s", id)
}

// load finds a plan and makes it.
func (s *Plans) load(
	ctx context.Context, p access.Principal, id string,
) (row models.ImportPlan, set map[string]string, plan *movein.Plan, err error) {
	tx := s.DB.Read(ctx)
	if row, err = find(tx, p, id); err != nil {
		return row, nil, nil, err
	}
	leave, err := s.take(ctx, row.TeamID)
	if err != nil {
		return row, nil, nil, err
	}
	defer leave()
	files, set, err := s.open(tx, row)
	if err == nil {
		plan, err = s.planOf(files, row, set)
	}
	return row, set, plan, err
}

// take waits for a place to work on a file.
func (s *Plans) take(ctx context.Context, team string) (leave func(), err error) {
	leave, err = s.places.Take(ctx, team)
	if errors.Is(err, turns.ErrBusy) {
		err = fault.New(fault.Unavailable, "busy", "Too many import plans are being created. Try again in a few "+
			"seconds.").
			After(placeAgain)
	}
	return leave, err
}

// open returns the files of a plan and the values of its placeholders.
func (s *Plans) open(tx *models.Tx, row models.ImportPlan) (*movein.Files, map[string]string, error) {
	packed, err := s.Vault.Open(tx, filePlace(row.ID), row.File)
	if err != nil {
		return nil, nil, err
	}
	var files movein.Files
	if err := files.UnmarshalBinary([]byte(packed.Reveal())); err != nil {
		return nil, nil, err
	}
	set := map[string]string{}
	if row.SetValues == nil {
		return &files, set, nil
	}
	values, err := s.Vault.Open(tx, valuesPlace(row.ID), row.SetValues)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal([]byte(values.Reveal()), &set); err != nil {
		return nil, nil, fmt.Errorf("read the values of placeholders: %w", err)
	}
	return &files, set, nil
}

// planOf makes a plan by the choices of a row.
func (s *Plans) planOf(
	files *movein.Files, row models.ImportPlan, set map[string]string,
) (*movein.Plan, error) {
	c := row.Choices
	plan, err := files.Plan(set, movein.Options{
		Name: c.Name, Open: c.Open, Hosts: c.Hosts, Trust: c.Trust, AllowWeak: c.AllowWeak, Theirs: c.Theirs,
		RetryOnTimeout: c.RetryOnTimeout, Now: models.Now(),
		CanServe: func(host string) bool {
			_, wrong := s.CheckHost(host)
			return wrong == nil
		},
	})
	if wrong, ok := errors.AsType[*movein.OptionError](err); ok {
		list := map[string][]string{"open": c.Open, "hosts": c.Hosts, "trust": c.Trust}[wrong.Option]
		return nil, fault.InvalidField(fmt.Sprintf("/%s/%d", wrong.Option, slices.Index(list, wrong.Value)), wrong.Code,
			"%s", wrong.Detail)
	}
	if errors.Is(err, movein.ErrTooMany) {
		return nil, fault.InvalidField("/file", "too_many_domains", "%s", filelimits.KongDomains.Sentence())
	}
	if err != nil {
		return nil, refused(err)
	}
	plan.Take(row.Trusted)
	plan.ByHand.EgressCIDRs = slices.DeleteFunc(plan.ByHand.EgressCIDRs, s.reaches)
	return plan, nil
}

// reaches reports whether this installation already connects to the address of a target.
func (s *Plans) reaches(cidr string) bool {
	one, err := netip.ParsePrefix(cidr)
	return err == nil && s.Reaches != nil && s.Reaches(one.Addr())
}

// refused is the fault of a file that can't be read.
func refused(err error) error {
	wrong, ok := errors.AsType[*configfile.Error](err)
	if !ok {
		return err
	}
	if wrong.Code == configfile.CodeLimit {
		return fault.InvalidField("/file", "too_large", "%s", wrong.Error())
	}
	return fault.InvalidField("/file", "unreadable_"+wrong.Code, "%s", wrong.Error())
}

// shown is a plan as its team sees it.
func shown(row models.ImportPlan, set map[string]string, plan *movein.Plan) contract.PlannedImport {
	out := contract.PlannedImport{
		ID: row.ID, Team: row.TeamID, State: contract.ImportPlanned, ImportChoices: row.Choices,
		ImportPlan: plan.ImportPlan, Targets: []contract.ImportTarget{}, Ledger: plan.Lines(),
		Filled:    slices.Sorted(maps.Keys(set)),
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(), ETag: access.ETag(row.UpdatedAt),
	}
	if notApplying(row) != nil {
		out.State = contract.ImportApplying
	}
	out.Items = out.Items[:min(len(out.Items), contract.MostPlannedItems)]
	out.Owners = out.Owners[:min(len(out.Owners), contract.MostPlannedItems)]
	return out
}

// notApplying refuses a change while a plan is applied.
func notApplying(row models.ImportPlan) error {
	if row.ApplyingUntil == nil || !row.ApplyingUntil.After(models.Now()) {
		return nil
	}
	return fault.New(fault.Conflict, "import_applying", "This import is being applied. Wait until it finishes.")
}

// settings is a plan in the form of the audit log, without the values of placeholders.
type settings struct {
	Name                              string
	Open, Hosts, Trust                []string
	Theirs, AllowWeak, RetryOnTimeout bool
	Filled                            []string
	ExpiresAt                         time.Time
}

func settingsOf(row models.ImportPlan, set map[string]string) settings {
	c := row.Choices
	return settings{
		Name: c.Name, Open: c.Open, Hosts: c.Hosts, Trust: c.Trust, Theirs: c.Theirs, AllowWeak: c.AllowWeak,
		RetryOnTimeout: c.RetryOnTimeout, Filled: slices.Sorted(maps.Keys(set)), ExpiresAt: row.ExpiresAt,
	}
}

// The sealed columns of a plan.
func filePlace(id string) secrets.Place {
	return secrets.Place{Table: "import_plans", Row: id, Column: "file", Purpose: secrets.ForControl}
}

func valuesPlace(id string) secrets.Place {
	return secrets.Place{Table: "import_plans", Row: id, Column: "set_values", Purpose: secrets.ForControl}
}
