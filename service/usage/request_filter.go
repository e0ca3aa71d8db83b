package usage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"postern/core/policy"
	"postern/platform/fault"
	"postern/service/access"
)

// RequestFilter selects calls of the live log. Its zero value selects all.
type RequestFilter struct {
	Status string // of three digits such as 404, or a class such as 4xx
	Owner  string
	Path   string // a part of it
	Code   string // of the gateway's own answer
}

func (f RequestFilter) check() error {
	if len(f.Status) == 3 && f.Status[0] >= '1' && f.Status[0] <= '5' {
		if _, err := strconv.Atoi(f.Status[1:]); err == nil || f.Status[1:] == "xx" {
			return nil
		}
	}
	if f.Status == "" {
		return nil
	}
	return fault.InvalidField("/status", "invalid_status", "Use a status such as 404, or a class such as 4xx.")
}

func (f RequestFilter) matches(c *Call) bool {
	status := strconv.Itoa(c.Status)
	return (f.Status == "" || f.Status == status || f.Status[1:] == "xx" && f.Status[:1] == status[:1]) &&
		(f.Owner == "" || f.Owner == c.Owner) &&
		(f.Path == "" || strings.Contains(c.Path, f.Path)) &&
		(f.Code == "" || f.Code == c.Code)
}

// before returns at most limit entries that the filter selects with a smaller number, newest first.
func (f RequestFilter) before(r *ring, number uint64, limit int) (list []entry) {
	if f == (RequestFilter{}) {
		return r.before(number, limit)
	}
	for len(list) < limit {
		part := r.before(number, batch)
		if len(part) == 0 {
			break
		}
		for i := range part {
			if f.matches(&part[i].call) {
				list = append(list, part[i])
			}
		}
		number = part[len(part)-1].number
	}
	return list[:min(len(list), limit)]
}

// RequestStep is a step of the gateway, and what became of the call there.
type RequestStep struct {
	Step    string // one of the gateway's Step constants
	Outcome string // passed, answered, or not reached
}

// The outcomes of a RequestStep.
const (
	StepPassed     = "passed"
	StepAnswered   = "answered"
	StepNotReached = "not_reached"
)

// UpstreamLine is a header that the gateway sets for the upstream.
type UpstreamLine struct{ Name, Value string }

// RequestDetail is a call with what the gateway did with it.
type RequestDetail struct {
	Request
	Steps    []RequestStep
	Upstream []UpstreamLine // about the caller; none if the upstream did not answer
}

// RequestByID returns a call of the live log. It is NotFound when newer calls have replaced it, or when another process
// has it.
func (s *Service) RequestByID(ctx context.Context, p access.Principal, project, id string) (RequestDetail, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.UsageRead)
	if err != nil {
		return RequestDetail{}, fmt.Errorf("usage: request %s of %s: %w", id, project, err)
	}
	gone := fault.New(fault.NotFound, "request_not_kept", "The log no longer has this call, or another server has "+
		"it: it holds about the last 1,000 calls of each.")
	r := s.Recorder.ring(parent.ID)
	if r == nil {
		return RequestDetail{}, gone
	}
	number, ok := r.number(id)
	if !ok || number == math.MaxUint64 {
		return RequestDetail{}, gone
	}
	found := r.before(number+1, 1)
	if len(found) == 0 || found[0].number != number {
		return RequestDetail{}, gone
	}
	list, err := s.named(tx, parent.ID, r, found)
	if err != nil {
		return RequestDetail{}, err
	}
	return detailOf(list[0]), nil
}

// callSteps are the gateway's steps in their order.
var callSteps = []string{"route", "cors", "access", "limits", "document", "validate", stepForward}

// rareSteps answer some calls and are not asked for the others.
var rareSteps = []string{"cors", "document", "validate"}

func detailOf(r Request) RequestDetail {
	out := RequestDetail{Request: r}
	decided := slices.Index(callSteps, r.Step)
	for i, step := range callSteps {
		outcome := StepPassed
		switch {
		case slices.Contains(rareSteps, step) && r.Step != step:
			continue
		case i == decided:
			outcome = StepAnswered
		case i > decided:
			outcome = StepNotReached
		}
		out.Steps = append(out.Steps, RequestStep{step, outcome})
	}
	if r.Step == stepForward && r.Code == "" {
		out.Upstream = upstreamLines(r)
	}
	return out
}

// upstreamLines returns the headers about the caller, as they follow from what the log has of a call.
func upstreamLines(r Request) []UpstreamLine {
	lines := []UpstreamLine{{"X-Real-IP", r.RemoteIP}, {policy.ProjectHeader, r.ProjectID}}
	if r.CredentialID != "" {
		return append(lines,
			UpstreamLine{policy.ConsumerIDHeader, policy.ConsumerID(r.ProjectID, r.Owner)},
			UpstreamLine{policy.UsernameHeader, r.Owner},
			UpstreamLine{policy.CustomIDHeader, r.Owner},
			UpstreamLine{policy.CredentialHeader, r.CredentialID},
		)
	}
	if user, _, ok := strings.Cut(r.Owner, " ("); ok {
		lines = append(lines, UpstreamLine{policy.UserHeader, user})
	}
	return lines
}
