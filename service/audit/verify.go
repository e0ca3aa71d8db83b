package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Head is the end of a chain: the number of its last entry (0 for an empty chain) and that entry's hash. A Head that
// was kept proves later whether the entries up to it are unchanged.
type Head struct {
	Number int64
	Hash   string
}

// String returns the form in which heads are kept: the number, a colon, and the hash.
func (h Head) String() string { return strconv.FormatInt(h.Number, 10) + ":" + h.Hash }

// parseHead reads a head as String writes it; "" is the zero Head.
func parseHead(text string) (Head, error) {
	if text == "" {
		return Head{}, nil
	}
	number, hash, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || (n > 0 && len(hash) != models.ChainHashLength) {
		return Head{}, fault.InvalidField("/head", "invalid_head", "Use the head from an earlier response: a number, "+
			"a colon and a hash.")
	}
	return Head{Number: n, Hash: hash}, nil
}

// Verify verifies the whole chain of a team. If the request has a head that was kept earlier, the chain has to contain
// it. Each team can have one verification at a time. Errors in addition to those of access: Invalid invalid_head,
// TooMany verification_under_way, Unavailable verification_too_long.
func (s *Service) Verify(
	ctx context.Context, p access.Principal, in contract.AuditVerification,
) (verdict contract.AuditVerdict, err error) {
	known, err := parseHead(in.Head)
	if err != nil {
		return verdict, err
	}
	team, _, err := chainOf(s.DB.Read(ctx), p, in.Team)
	if err != nil {
		return verdict, fmt.Errorf("audit: verify: %w", err)
	}
	if !s.inProgress.begin(team) {
		return verdict, fmt.Errorf("audit: verify the chain of %q: %w", team, errUnderWay)
	}
	defer s.inProgress.end(team)
	ctx, stop := context.WithTimeoutCause(ctx, cmp.Or(s.VerifyWithin, verifyWithin), errTooLong)
	defer stop()
	err = s.DB.Consistent(ctx, func(tx *models.Tx) error {
		verdict, err = verify(tx, team, known)
		return err
	})
	if err != nil && errors.Is(context.Cause(ctx), errTooLong) {
		err = errTooLong.Because(err)
	}
	if err != nil {
		return contract.AuditVerdict{}, fmt.Errorf("audit: verify the chain of %q: %w", team, err)
	}
	return verdict, nil
}

// VerifyAll verifies all chains of a database, or the one of in.Team, which may be contract.Installation. A head
// belongs to one chain, so in.Head needs in.Team. It checks no permission, because its callers can open the database.
// Errors: Invalid invalid_head, team_required and team_not_found.
func VerifyAll(
	ctx context.Context, db *models.DB, in contract.AuditVerification,
) (verdicts []contract.AuditVerdict, err error) {
	known, err := parseHead(in.Head)
	if err != nil {
		return nil, err
	}
	if in.Team == "" && in.Head != "" {
		return nil, fault.InvalidField("/team", "team_required", "A head belongs to one team's log. Specify the "+
			"team, or \""+contract.Installation+"\".")
	}
	err = db.Consistent(ctx, func(tx *models.Tx) (err error) {
		if in.Team == "" {
			verdicts, err = VerifyChains(tx)
			return err
		}
		verdict, err := verifyNamed(tx, in.Team, known)
		verdicts = []contract.AuditVerdict{verdict}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("audit: verify all chains: %w", err)
	}
	return verdicts, nil
}

// verifyNamed verifies the chain of one team.
func verifyNamed(tx *models.Tx, team string, known Head) (contract.AuditVerdict, error) {
	teams, err := allChains(tx)
	if err != nil {
		return contract.AuditVerdict{}, err
	}
	chain := team
	if team == contract.Installation {
		chain = ""
	}
	if !slices.Contains(teams, chain) {
		return contract.AuditVerdict{}, fault.InvalidField("/team", "team_not_found", "The database has no audit log "+
			"for this team. Use a team ID or \""+contract.Installation+"\".")
	}
	return verify(tx, chain, known)
}

// VerifyChains verifies all chains in a transaction.
func VerifyChains(tx *models.Tx) ([]contract.AuditVerdict, error) {
	teams, err := allChains(tx)
	if err != nil {
		return nil, err
	}
	var verdicts []contract.AuditVerdict
	for _, team := range teams {
		verdict, err := verify(tx, team, Head{})
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, verdict)
	}
	return verdicts, nil
}

// allChains returns the teams that have the end of a chain or entries, since either may
// have been deleted, and "" for the installation.
func allChains(tx *models.Tx) ([]string, error) {
	teams, err := tx.AuditTeams()
	if err != nil {
		return nil, err
	}
	chains, err := tx.AuditChains()
	if err != nil {
		return nil, err
	}
	all := map[string]bool{"": true}
	for _, team := range teams {
		all[team] = true
	}
	for _, chain := range chains {
		all[chain.TeamID] = true
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// verifyBatch is how many entries are read at a time.
const verifyBatch = 1000

func verify(tx *models.Tx, team string, known Head) (contract.AuditVerdict, error) {
	end, err := tx.AuditChainOf(team)
	if err != nil {
		return contract.AuditVerdict{}, err
	}
	start, err := startOf(tx, team)
	if err != nil {
		return contract.AuditVerdict{}, err
	}
	stray, err := tx.AuditUnchained(team, 1)
	if err != nil {
		return contract.AuditVerdict{}, err
	}
	w, recorded := walkFrom(start), Head{end.Number, end.Hash}
	w.expect(known)
	last := models.AuditEntry{TeamID: team}
	for w.broken == nil {
		entries, err := tx.AuditAfter(last, verifyBatch)
		if err != nil {
			return contract.AuditVerdict{}, err
		}
		for _, e := range entries {
			if err := w.step(e); err != nil {
				return contract.AuditVerdict{}, err
			}
			if w.broken != nil {
				break
			}
			last = e
		}
		if len(entries) < verifyBatch {
			break
		}
	}
	w.finish(recorded)
	if len(stray) > 0 && w.broken == nil {
		w.fail(0, stray[0].ID, "it isn't part of a chain, so it wasn't written by Postern")
	}
	return contract.AuditVerdict{
		Team:    contract.OrNull(team),
		Intact:  w.broken == nil,
		Entries: w.entries,
		Removed: start.Number,
		Head:    recorded.String(),
		Broken:  w.broken,
	}, nil
}

// walk is a verification under way.
type walk struct {
	start   Head // the last entry that retention removed; zero: none
	known   Head // that the chain has to contain; zero: any
	at      Head // the last entry
	entries int64
	broken  *contract.AuditBreak // nil while the chain is intact
}

// walkFrom returns a walk that begins where the chain does.
func walkFrom(start Head) walk { return walk{start: start, at: start} }

// fail ends the walk at an entry, whose id is "" if it is missing.
func (w *walk) fail(number int64, entry, reason string, args ...any) {
	w.broken = &contract.AuditBreak{
		Number: number, Entry: contract.OrNull(entry), Reason: fmt.Sprintf(reason, args...),
	}
}

// expect has the walk look for a head that was kept earlier.
func (w *walk) expect(known Head) {
	switch w.known = known; {
	case known.Number == 0:
	case known.Number < w.start.Number:
		w.fail(known.Number, "", "retention removed it and all entries up to number %d: use a newer head",
			w.start.Number)
	case known.Number == w.start.Number && known.Hash != w.start.Hash:
		w.fail(known.Number, "", "it was removed, and its hash differs from the one in the head")
	}
}

func (w *walk) step(e models.AuditEntry) error {
	next := w.at.Number + 1
	switch {
	case e.Number > next:
		w.fail(next, "", "it is missing; the next entry has number %d", e.Number)
		return nil
	case e.Number < next:
		w.fail(e.Number, e.ID, "another entry has this number")
		return nil
	}
	hash, err := e.ChainHash(w.at.Hash)
	if err != nil {
		return err
	}
	switch {
	case hash != e.Hash:
		w.fail(e.Number, e.ID, "it or an entry before it was changed")
	case w.known.Number == e.Number && w.known.Hash != e.Hash:
		w.fail(e.Number, e.ID, "its hash differs from the one in the head")
	default:
		w.at = Head{next, hash}
		w.entries++
	}
	return nil
}

// finish compares the end that was reached with the end that was recorded.
func (w *walk) finish(recorded Head) {
	switch reached := w.at.Number; {
	case w.broken != nil:
	case recorded.Number > reached:
		w.fail(reached+1, "", "it is missing, and so are all entries up to number %d, where the chain ends",
			recorded.Number)
	case recorded != w.at:
		w.fail(recorded.Number, "", "the recorded end of the chain isn't its last entry")
	case w.known.Number > reached:
		w.fail(reached+1, "", "it is missing, and so are all entries up to number %d, the number in the head",
			w.known.Number)
	}
}
