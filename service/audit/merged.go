package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// chainOf is the chain that a principal asks about, and the team whose members
// read it. The entries of no team are for operators.
func chainOf(tx *models.Tx, p access.Principal, of string) (chain, team string, err error) {
	if of == Installation {
		return "", "", access.CheckOperator(p)
	}
	if of == "" {
		of = p.HomeTeam
	}
	if p.Anonymous() {
		return "", "", access.Check(p, of, access.AuditRead)
	}
	if team, err = readerOf(tx, of); err != nil {
		return "", "", err
	}
	return of, team, access.Check(p, team, access.AuditRead)
}

// readerOf is the team whose members read a team's chain: of a workspace that was
// merged, which has no members, the one it was merged into.
func readerOf(tx *models.Tx, team string) (string, error) {
	into, err := tx.MergedInto(team)
	if err != nil {
		return "", fmt.Errorf("find what the team %s was merged into: %w", team, err)
	}
	if into != "" {
		return into, nil
	}
	return team, nil
}

// reading is a query that its asker may make.
type reading struct {
	models.AuditFilter        // TeamID is the chain to begin with
	chain, team        string // that is asked about, and whose members read it
	older              []string
}

func (q Query) reading(tx *models.Tx, p access.Principal) (r reading, err error) {
	if r.AuditFilter, r.team, err = q.filter(tx, p); err != nil {
		return r, err
	}
	r.chain = r.TeamID
	if r.chain != "" && (r.Project != "" || r.Object != "") {
		if r.older, err = tx.AuditMerged(r.AuditFilter); err != nil {
			return r, err
		}
	}
	return r, r.resume(q.Cursor)
}

// resume goes on below a cursor.
func (r *reading) resume(cursor string) (err error) {
	if cursor == "" {
		return nil
	}
	number, chain, older := strings.Cut(cursor, ":")
	at := slices.Index(r.older, chain)
	if r.Before, err = strconv.ParseInt(number, 10, 64); err != nil || r.Before < 1 || (older && at < 0) {
		return fault.InvalidField("/cursor", "invalid_cursor", "This is no cursor of an earlier page. Leave it out "+
			"to begin with the newest.")
	}
	if older {
		r.TeamID, r.older = chain, r.older[at+1:]
	}
	return nil
}

// cursor is an entry's number, and its chain where that is not the one asked
// about: each chain counts from 1.
func (r reading) cursor(last models.AuditEntry) string {
	number := strconv.FormatInt(last.Number, 10)
	if last.TeamID != r.chain {
		return number + ":" + last.TeamID
	}
	return number
}

// rows reads one chain after the other. What a project or an object has in an
// older one is from before the merge, so that the newest stay first.
func (r reading) rows(tx *models.Tx, limit int) ([]models.AuditEntry, error) {
	f := r.AuditFilter
	rows, err := tx.AuditEntries(f, limit)
	if err != nil {
		return nil, err
	}
	f.Before = 0
	for _, f.TeamID = range r.older {
		if len(rows) == limit {
			break
		}
		more, err := tx.AuditEntries(f, limit-len(rows))
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// maxMerged bounds how many merged workspaces a page offers; the others are read
// by their ids.
const maxMerged = 50

// addMerged adds the workspaces that were merged into the teams to choose from,
// and the one that is shown.
func (c *Choices) addMerged(tx *models.Tx, shown string) error {
	var ids []string
	for _, team := range c.Teams {
		ids = append(ids, team.Value)
	}
	merged, err := tx.TeamsMergedInto(ids, maxMerged)
	if err != nil {
		return err
	}
	if shown != "" && !slices.Contains(ids, shown) &&
		!slices.ContainsFunc(merged, func(t models.Team) bool { return t.ID == shown }) {
		team, err := tx.TeamByID(shown)
		if err != nil {
			return err
		}
		merged = append(merged, team)
	}
	for _, team := range merged {
		title := "Workspace " + team.ID
		if team.ClaimedAt != nil {
			title = "Workspace claimed " + team.ClaimedAt.UTC().Format("2 Jan 2006, 15:04")
		}
		c.Teams = append(c.Teams, Choice{team.ID, title})
	}
	return nil
}
