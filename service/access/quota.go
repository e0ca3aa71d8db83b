package access

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"postern/models"
	"postern/platform/fault"
)

// workspaceQuota limits what a workspace holds before it is claimed. That is enough
// to try everything; without it, anonymous callers of POST /proxy could fill the
// database and the memory of every replica. It holds whatever --unclaimed-caps says:
// that is about what unclaimed proxies can be used for.
var workspaceQuota = map[models.QuotaKind]int64{
	models.QuotaProjects: 10,
	models.QuotaKeys:     1000,
	models.QuotaTenants:  10,
	models.QuotaProducts: 10,
	models.QuotaExports:  30,

	models.QuotaRelations: 10_000, // all of them are in the memory of every replica
	models.QuotaDocuments: 20,
	models.QuotaUsers:     1000,
	models.QuotaGroups:    100,
	models.QuotaApprovals: 100,
}

// workspaceDocuments bounds the OpenAPI documents of an unclaimed workspace together, in bytes.
const workspaceDocuments = 8 << 20

// quotaNames are the rows' names for callers.
var quotaNames = map[models.QuotaKind]string{
	models.QuotaProjects:  "projects",
	models.QuotaKeys:      "API keys",
	models.QuotaTenants:   "tenants",
	models.QuotaProducts:  "products",
	models.QuotaExports:   "exports",
	models.QuotaRelations: "object owners",
	models.QuotaDocuments: "OpenAPI documents",
	models.QuotaUsers:     "users",
	models.QuotaGroups:    "groups",
	models.QuotaApprovals: "approvals",
}

// CheckQuota refuses another row of a kind if an unclaimed workspace has reached its quota. It counts the rows of the
// team itself and of its projects. Claimed teams have no quota.
func CheckQuota(tx *models.Tx, teamID string, kind models.QuotaKind) error {
	most, known := workspaceQuota[kind]
	if !known {
		return fmt.Errorf("access: no quota is set for %s", kind)
	}
	count, unclaimed, err := tx.CountForQuota(teamID, kind, most)
	if err != nil {
		return fmt.Errorf("access: count %s of %s: %w", kind, teamID, err)
	}
	if !unclaimed || count < most {
		return nil
	}
	return fault.New(fault.Conflict, "workspace_full", "An unclaimed workspace can have at most %s %s. Claim it to "+
		"add more.", humanize.Comma(most), quotaNames[kind])
}

// Room returns how many more rows of a kind an unclaimed workspace can have, or -1 for a claimed team, which has no
// quota.
func Room(tx *models.Tx, teamID string, kind models.QuotaKind) (int64, error) {
	most := workspaceQuota[kind]
	count, unclaimed, err := tx.CountForQuota(teamID, kind, most)
	if err != nil {
		return 0, fmt.Errorf("access: count %s of %s: %w", kind, teamID, err)
	}
	if !unclaimed {
		return -1, nil
	}
	return max(0, most-count), nil
}

// IsUnclaimed reports whether a team is a workspace that hasn't been claimed.
func IsUnclaimed(tx *models.Tx, teamID string) (bool, error) {
	team, err := tx.TeamServed(teamID)
	if err != nil {
		return false, fmt.Errorf("access: check whether %s is claimed: %w", teamID, err)
	}
	return team.ClaimedAt == nil, nil
}

// CheckRelations refuses the relations that were added in the transaction if an unclaimed workspace now has too many.
func CheckRelations(tx *models.Tx, teamID string) error {
	most := workspaceQuota[models.QuotaRelations]
	count, unclaimed, err := tx.CountForQuota(teamID, models.QuotaRelations, most+1)
	if err != nil {
		return fmt.Errorf("access: count relations of %s: %w", teamID, err)
	}
	if !unclaimed || count <= most {
		return nil
	}
	return fault.New(fault.Conflict, "workspace_full",
		"An unclaimed workspace can have at most %s object owners. Remove some, or claim the workspace.",
		humanize.Comma(most))
}

// CheckDocuments refuses a document that was set in the transaction if an unclaimed workspace now has too many
// documents, or too many bytes of them.
func CheckDocuments(tx *models.Tx, teamID string) error {
	most := workspaceQuota[models.QuotaDocuments]
	count, unclaimed, err := tx.CountForQuota(teamID, models.QuotaDocuments, most+1)
	if err != nil {
		return fmt.Errorf("access: count documents of %s: %w", teamID, err)
	}
	if !unclaimed {
		return nil
	}
	if count > most {
		return fault.New(fault.Conflict, "workspace_full",
			"An unclaimed workspace can have at most %d OpenAPI documents. Remove one, or claim the workspace.", most)
	}
	size, err := tx.DocumentBytes(teamID)
	if err != nil {
		return fmt.Errorf("access: measure documents of %s: %w", teamID, err)
	}
	if size > workspaceDocuments {
		return fault.New(fault.Conflict, "workspace_full",
			"The OpenAPI documents of an unclaimed workspace can take up at most %d MB in total. Remove one, or "+
				"claim the workspace.",
			workspaceDocuments>>20)
	}
	return nil
}
