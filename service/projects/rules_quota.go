package projects

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// A segment of a rule's path takes up to 600 bytes in the memory of every gateway, and every change of a project reads
// the rules of all its versions.
const (
	maxRuleSegments          = 16_000 // of a version
	maxUnclaimedRuleSegments = 4_000  // of all versions of a project in an unclaimed workspace, which has ten
)

func segmentsOf(path string) int { return strings.Count(path, "/") }

// checkRuleQuota refuses rules that were written in the transaction if the project is in an unclaimed workspace and has
// too many with them.
func checkRuleQuota(tx *models.Tx, project models.Project) error {
	unclaimed, err := access.IsUnclaimed(tx, project.TeamID)
	if err != nil || !unclaimed {
		return err
	}
	versions, err := tx.VersionsOf(project.ID)
	if err != nil {
		return fmt.Errorf("count the rules of %s: %w", project.ID, err)
	}
	segments := 0
	for _, version := range versions {
		for _, rule := range version.Rules.List {
			segments += segmentsOf(rule.Path)
		}
	}
	if segments <= maxUnclaimedRuleSegments {
		return nil
	}
	return fault.New(fault.Conflict, "workspace_full", "The rule paths of an unclaimed project can have at most %s "+
		"segments in total across all versions. With this change, they would have %s. Remove some rules, or claim "+
		"the project.",
		humanize.Comma(maxUnclaimedRuleSegments), humanize.Comma(int64(segments)))
}
