package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// chainOf is the chain that a principal asks about, and the team whose members
// read it. The entries of no team are for operators.
func chainOf(tx *models.Tx, p access.Principal, of string) (chain, team string, err error) {
	if of == contract.Installation {
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
		return "", fmt.Errorf("find the team that %s was merged into: %w", team, err)
	}
	if into != "" {
		return into, nil
	}
	return team, nil
}

// reading is a request that the principal may make.
type reading struct {
	models.AuditFilter
	chain, team string   // that is asked about, and whose members read it
	chains      []string // that are still to read, in the order of the list
	after       int64    // the place in the first of them that the page begins after
	logs        map[string]models.AuditLog
}

// log is the part of a chain that the request selects.
func (r reading) log(tx *models.Tx, chain string) (models.AuditLog, error) {
	if log, ok := r.logs[chain]; ok {
		return log, nil
	}
	f := r.AuditFilter
	f.TeamID = chain
	log, err := tx.AuditLog(f)
	r.logs[chain] = log
	return log, err
}

func newReading(tx *models.Tx, p access.Principal, in contract.AuditList) (r reading, err error) {
	if r.AuditFilter, r.team, err = filterOf(tx, p, in); err != nil {
		return r, err
	}
	r.logs = map[string]models.AuditLog{}
	r.chain = r.TeamID
	r.chains = []string{r.chain}
	if r.chain != "" && (r.Project != "" || r.Object != "") {
		older, err := tx.AuditMerged(r.AuditFilter)
		if err != nil {
			return r, err
		}
		r.chains = append(r.chains, older...)
	}
	if r.Oldest {
		slices.Reverse(r.chains)
	}
	return r, nil
}

// resume continues after a cursor.
func (r *reading) resume(cursor string) (err error) {
	if cursor == "" {
		return nil
	}
	number, chain, older := strings.Cut(cursor, ":")
	if !older {
		chain = r.chain
	}
	at := slices.Index(r.chains, chain)
	if r.after, err = strconv.ParseInt(number, 10, 64); err != nil || r.after < 1 || at < 0 {
		return fault.InvalidField("/cursor", "invalid_cursor", "This isn't a cursor from an earlier response. Leave "+
			"it out to start at the beginning.")
	}
	r.chains = r.chains[at:]
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

// page reads one chain after the other. Entries of a project or an object in an older chain are from before the merge,
// so that the list stays in order.
func (r reading) page(tx *models.Tx, page models.Page) (models.List[models.AuditEntry], error) {
	var rows []models.AuditEntry
	none, limit := models.List[models.AuditEntry]{}, page.Size()+1
	for _, chain := range r.chains {
		log, err := r.log(tx, chain)
		if err != nil {
			return none, err
		}
		more, end, err := log.Entries(r.after, limit-len(rows))
		if err != nil {
			return none, err
		}
		rows = append(rows, more...)
		if end != nil {
			return models.List[models.AuditEntry]{Items: rows, Next: r.cursor(*end), Partial: true}, nil
		}
		if len(rows) == limit {
			break
		}
		r.after = 0
	}
	return models.Cut(rows, page, r.cursor), nil
}

// total counts the entries of all chains. It returns false if there can be more of them.
func (r reading) total(tx *models.Tx) (n int64, complete bool, err error) {
	for _, chain := range r.chains {
		log, err := r.log(tx, chain)
		if err != nil {
			return 0, false, err
		}
		more, complete, err := log.Count()
		if err != nil {
			return 0, false, err
		}
		if n += more; n > models.MaxTotal {
			return models.MaxTotal + 1, true, nil
		}
		if !complete {
			return n, false, nil
		}
	}
	return n, true, nil
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
