package accounts

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
	"postern/platform/secrets"
	"postern/service/access"
)

// Claimable is the workspace of a claim code.
type Claimable struct {
	Projects  []string // names
	Keys      int64    // active API keys
	ExpiresAt time.Time
	Teams     []contract.Membership // into which it may be merged
}

// PreviewClaim returns the workspace that a code would claim. Its errors are those of Claim.
func (s *Service) PreviewClaim(ctx context.Context, p access.Principal, code string) (Claimable, error) {
	tx := s.DB.Read(ctx)
	workspace, err := claimable(tx, p, code)
	if err != nil {
		return Claimable{}, fmt.Errorf("accounts: preview a claim: %w", err)
	}
	projects, err := tx.ProjectsOfTeam(workspace.ID)
	if err != nil {
		return Claimable{}, fmt.Errorf("accounts: preview a claim: %w", err)
	}
	out := Claimable{Projects: namesOf(projects), ExpiresAt: *workspace.ExpiresAt}
	if out.Keys, err = activeKeys(tx, projects); err != nil {
		return Claimable{}, fmt.Errorf("accounts: count the keys of a claim: %w", err)
	}
	for _, id := range p.Teams() {
		if !access.Can(p.Roles[id], access.ProjectCreate) {
			continue
		}
		team, err := tx.TeamByID(id)
		if err != nil {
			return Claimable{}, fmt.Errorf("accounts: preview a claim: %w", err)
		}
		out.Teams = append(out.Teams, contract.Membership{ID: id, Name: team.Name, Role: string(p.Roles[id])})
	}
	slices.SortFunc(out.Teams, func(a, b contract.Membership) int { return compareTeams(a, b, p.HomeTeam) })
	return out, nil
}

func activeKeys(tx *models.Tx, projects []models.Project) (sum int64, err error) {
	ids := make([]string, 0, len(projects))
	for _, project := range projects {
		ids = append(ids, project.ID)
	}
	active, err := tx.CountActiveKeys(ids, models.Now())
	if err != nil {
		return 0, err
	}
	for _, n := range active {
		sum += n
	}
	return sum, nil
}

// compareTeams orders the home team first and the others by creation.
func compareTeams(a, b contract.Membership, home string) int {
	switch {
	case a.ID == home:
		return -1
	case b.ID == home || a.ID > b.ID:
		return 1
	}
	return -1
}

// Claim moves an unclaimed workspace to a signed-in account: into one of its teams, or as a new team if none is named.
// Addresses, keys and exports stay the same; the workspace key stops working. Of several concurrent claims, one
// succeeds. Errors: NotFound for a wrong code, Conflict already_claimed, Gone claim_expired, Forbidden for a caller
// without an account.
func (s *Service) Claim(ctx context.Context, p access.Principal, in contract.Claim) (contract.Claimed, error) {
	var out contract.Claimed
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		workspace, err := claimable(tx, p, in.Body.Code.Reveal())
		if err != nil {
			return err
		}
		if in.Body.Team != "" {
			if err := access.Check(p, in.Body.Team, access.ProjectCreate); err != nil {
				return err
			}
		}
		out, err = s.claim(ctx, tx, p, workspace, in.Body.Team)
		return err
	})
	if err != nil {
		return contract.Claimed{}, fmt.Errorf("accounts: claim: %w", err)
	}
	s.Changed(ctx)
	return out, nil
}

// claimable returns the workspace of a code that the caller can claim.
func claimable(tx *models.Tx, p access.Principal, code string) (models.Team, error) {
	if err := access.CheckSelf(p, access.WorkspaceClaim); err != nil {
		return models.Team{}, err
	}
	return unclaimed(tx, code)
}

// unclaimed returns the workspace of a code that can still be claimed. It checks no
// permission.
func unclaimed(tx *models.Tx, code string) (models.Team, error) {
	workspace, err := tx.TeamByClaimCode(secrets.Digest(code))
	switch {
	case errors.Is(err, models.ErrNotFound):
		// A code is a credential, so a wrong one is recorded in the audit log.
		return workspace, access.Refused(errNoWorkspace, "", access.WorkspaceClaim)
	case err != nil:
		return workspace, err
	case workspace.ClaimedAt != nil:
		return workspace, errClaimed
	case workspace.ExpiresAt == nil || !workspace.ExpiresAt.After(models.Now()):
		return workspace, fault.New(
			fault.Gone, "claim_expired", "This workspace wasn't claimed in time and has expired.",
		)
	}
	return workspace, nil
}

var errNoWorkspace = fault.New(fault.NotFound, "not_found", "No workspace has this claim code. Check that you copied "+
	"the whole code.")

var errClaimed = fault.New(fault.Conflict, "already_claimed", "This workspace has already been claimed.")

func (s *Service) claim(
	ctx context.Context, tx *models.Tx, p access.Principal, workspace models.Team, intoTeam string,
) (contract.Claimed, error) {
	var none contract.Claimed
	now := models.Now()
	account, err := tx.AccountByID(p.Account)
	if err != nil {
		return none, err
	}
	claimed, err := tx.ClaimTeam(workspace.ID, account.Name, now)
	if err != nil {
		return none, err
	}
	if !claimed {
		return none, errClaimed
	}
	projects, err := tx.ProjectsOfTeam(workspace.ID)
	if err != nil {
		return none, err
	}
	var renamed []string
	team := contract.ClaimedTeam{ID: workspace.ID, Name: account.Name}
	if intoTeam == "" {
		err = tx.Insert(&models.Membership{
			TeamID:    workspace.ID,
			AccountID: p.Account,
			Role:      string(access.Owner),
			CreatedAt: now,
		})
	} else {
		team, renamed, err = merge(tx, workspace.ID, intoTeam, now)
	}
	if err != nil {
		return none, err
	}
	if err := tx.DeleteTokensOfTeam(KindWorkspace, workspace.ID); err != nil {
		return none, err
	}
	entry := access.Entry{
		Action: access.WorkspaceClaim,
		Object: workspace.ID,
		Team:   team.ID,
		Detail: map[string]string{"team": team.ID, "projects": strings.Join(namesOf(projects), ", ")},
	}
	if len(renamed) > 0 {
		entry.Detail["renamed"] = strings.Join(renamed, ", ")
	}
	if err := access.Record(tx, p, entry); err != nil {
		return none, err
	}
	for _, project := range projects {
		if s.Events == nil {
			break
		}
		if err := s.Events.Emit(ctx, tx, team.ID, "project.claimed", map[string]any{
			"project":      project.ID,
			"project_name": project.Name,
		}); err != nil {
			return none, err
		}
	}
	for _, project := range projects {
		if err := tx.AddRevision(project.ID, "", now); err != nil {
			return none, err
		}
	}
	return contract.Claimed{Team: team, Projects: namesOf(projects), Renamed: renamed}, nil
}

func namesOf(projects []models.Project) []string {
	names := make([]string, 0, len(projects))
	for _, project := range projects {
		names = append(names, project.Name)
	}
	return names
}
