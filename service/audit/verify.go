package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"postern/models"
	"postern/service/access"
)

// Head is the end of a chain: the number of its last entry, 0 without any, and that
// entry's hash. A kept Head shows later whether the entries before it are unchanged.
type Head struct {
	Number int64
	Hash   string
}

// String is the spelling in which heads are kept: the number, a colon, the hash.
func (h Head) String() string { return strconv.FormatInt(h.Number, 10) + ":" + h.Hash }

// Verdict is what verification of one chain found.
type Verdict struct {
	Team    string // "" for what belongs to no team
	Entries int64  // that are in order
	Start   Start  // zero unless retention has removed the first entries
	Head    Head
	Broken  *Break // nil when the chain is whole
}

// Break is the first place at which a chain is not what it was.
type Break struct {
	Number int64
	Entry  string // id; "" where the entry is missing
	Reason string
}

// Verify verifies the whole chain of a team, named as in Query. If known is not
// zero, a head that was kept earlier, the chain has to contain it. A team has one
// verification at a time. Errors beside those of access: TooMany
// verification_under_way, Unavailable verification_too_long.
func (s *Service) Verify(ctx context.Context, p access.Principal, team string, known Head) (Verdict, error) {
	team, _, err := chainOf(s.DB.Read(ctx), p, team)
	if err != nil {
		return Verdict{}, fmt.Errorf("audit: verify: %w", err)
	}
	if !s.underWay.begin(team) {
		return Verdict{}, fmt.Errorf("audit: verify the chain of %q: %w", team, errUnderWay)
	}
	defer s.underWay.end(team)
	ctx, stop := context.WithTimeoutCause(ctx, cmp.Or(s.VerifyWithin, verifyWithin), errTooLong)
	defer stop()
	var verdict Verdict
	err = s.DB.Consistent(ctx, func(tx *models.Tx) error {
		verdict, err = verify(tx, team, known)
		return err
	})
	if err != nil && errors.Is(context.Cause(ctx), errTooLong) {
		err = errTooLong.Because(err)
	}
	if err != nil {
		return Verdict{}, fmt.Errorf("audit: verify the chain of %q: %w", team, err)
	}
	return verdict, nil
}

// VerifyAll verifies all chains of a database. It checks no permission: callers of
// it can open the database.
func VerifyAll(ctx context.Context, db *models.DB) (verdicts []Verdict, err error) {
	err = db.Consistent(ctx, func(tx *models.Tx) (err error) {
		verdicts, err = VerifyChains(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("audit: verify all chains: %w", err)
	}
	return verdicts, nil
}

// VerifyChains is VerifyAll in a transaction.
func VerifyChains(tx *models.Tx) ([]Verdict, error) {
	teams, err := allChains(tx)
	if err != nil {
		return nil, err
	}
	var verdicts []Verdict
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

func verify(tx *models.Tx, team string, known Head) (Verdict, error) {
	end, err := tx.AuditChainOf(team)
	if err != nil {
		return Verdict{}, err
	}
	start, err := startOf(tx, team)
	if err != nil {
		return Verdict{}, err
	}
	w := newWalk(Verdict{Team: team, Start: start, Head: Head{end.Number, end.Hash}}, known)
	stray, err := tx.AuditUnchained(team, 1)
	if err != nil {
		return w.Verdict, err
	}
	last := models.AuditEntry{TeamID: team}
	for w.Broken == nil {
		entries, err := tx.AuditAfter(last, verifyBatch)
		if err != nil {
			return w.Verdict, err
		}
		for _, e := range entries {
			if err := w.step(e); err != nil || w.Broken != nil {
				return w.Verdict, err
			}
			last = e
		}
		if len(entries) < verifyBatch {
			break
		}
	}
	w.finish()
	if len(stray) > 0 && w.Broken == nil {
		w.Broken = &Break{0, stray[0].ID, "it is in no chain: it was put in from outside"}
	}
	return w.Verdict, nil
}

// walk is a verification under way.
type walk struct {
	Verdict
	known    Head
	at       int64 // number of the last entry
	previous string
}

// newWalk returns a walk that begins where the chain does.
func newWalk(of Verdict, known Head) walk {
	w := walk{Verdict: of, known: known, at: of.Start.Number, previous: of.Start.Hash}
	switch {
	case known.Number == 0:
	case known.Number < of.Start.Number:
		w.Broken = &Break{
			known.Number,
			"",
			fmt.Sprintf("its hash was kept, and it was removed with all up to number %d when their time was over: "+
				"keep a newer head", of.Start.Number),
		}
	case known.Number == of.Start.Number && known.Hash != of.Start.Hash:
		w.Broken = &Break{known.Number, "", "it was removed, and had another hash than the one that was kept"}
	}
	return w
}

func (w *walk) step(e models.AuditEntry) error {
	next := w.at + 1
	switch {
	case e.Number > next:
		w.Broken = &Break{next, "", fmt.Sprintf("it is missing; the next one there is has number %d", e.Number)}
		return nil
	case e.Number < next:
		w.Broken = &Break{e.Number, e.ID, "another entry has this number"}
		return nil
	}
	hash, err := e.ChainHash(w.previous)
	if err != nil {
		return err
	}
	if hash != e.Hash {
		w.Broken = &Break{e.Number, e.ID, "it, or what was before it, is not what was recorded"}
		return nil
	}
	if w.known.Number == e.Number && w.known.Hash != e.Hash {
		w.Broken = &Break{e.Number, e.ID, "it has another hash than the one that was kept"}
		return nil
	}
	w.at, w.previous = next, hash
	w.Entries++
	return nil
}

// finish compares the end that was reached with the end that was recorded.
func (w *walk) finish() {
	switch {
	case w.Broken != nil:
	case w.Head.Number > w.at:
		w.Broken = &Break{w.at + 1, "", fmt.Sprintf("it is missing, and so is all up to number %d, where the "+
			"chain ends", w.Head.Number)}
	case w.Head.Number < w.at || w.Head.Hash != w.previous:
		w.Broken = &Break{w.Head.Number, "", "the recorded end of the chain is not its last entry"}
	case w.known.Number > w.at:
		w.Broken = &Break{
			w.at + 1,
			"",
			fmt.Sprintf("it is missing, and so is all up to number %d, whose hash was kept", w.known.Number),
		}
	}
}
