package usage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
	"postern/platform/fault"
	"postern/service/access"
)

// requestFilter selects calls of the live log. Its zero value selects all.
type requestFilter contract.RequestFilter

func (f requestFilter) check() error {
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

func (f requestFilter) matches(c *Call) bool {
	status := strconv.Itoa(c.Status)
	return (f.Status == "" || f.Status == status || f.Status[1:] == "xx" && f.Status[:1] == status[:1]) &&
		(f.Owner == "" || f.Owner == c.Owner) &&
		(f.Path == "" || strings.Contains(c.Path, f.Path)) &&
		(f.Code == "" || f.Code == c.Code)
}

// before returns at most limit entries that the filter selects with a smaller number, newest first.
func (f requestFilter) before(r *ring, number uint64, limit int) (list []entry) {
	if f == (requestFilter{}) {
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

// Request returns a call of the live log. It is NotFound when newer calls have replaced it, or when another process
// has it.
func (s *Service) Request(
	ctx context.Context, p access.Principal, in contract.RequestPath,
) (contract.RequestDetail, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, in.Project, access.UsageRead)
	if err != nil {
		return contract.RequestDetail{}, fmt.Errorf("usage: request %s of %s: %w", in.Request, in.Project, err)
	}
	gone := fault.New(fault.NotFound, "request_not_kept", "The log no longer contains this call, or another server "+
		"has it. Each server keeps about the last 1,000 calls to each project.")
	r := s.Recorder.ring(parent.ID)
	if r == nil {
		return contract.RequestDetail{}, gone
	}
	number, ok := r.number(in.Request)
	if !ok || number == math.MaxUint64 {
		return contract.RequestDetail{}, gone
	}
	found := r.before(number+1, 1)
	if len(found) == 0 || found[0].number != number {
		return contract.RequestDetail{}, gone
	}
	list, err := s.named(tx, parent.ID, r, found)
	if err != nil {
		return contract.RequestDetail{}, err
	}
	call := &found[0].call
	out := contract.RequestDetail{Request: list[0], Steps: stepsOf(call), UpstreamHeaders: []contract.RequestHeader{}}
	if call.Forwarded && call.Code == "" {
		out.UpstreamHeaders = upstreamHeaders(call)
	}
	return out, nil
}

// callSteps are the gateway's steps in their order.
var callSteps = []string{"route", "cors", "access", "limits", "document", "validate", "forward"}

// rareSteps answer some calls and are not asked for the others.
var rareSteps = []string{"cors", "document", "validate"}

func stepsOf(c *Call) []contract.RequestStep {
	out := []contract.RequestStep{}
	decided := slices.Index(callSteps, c.Step)
	for i, step := range callSteps {
		outcome := contract.StepPassed
		switch {
		case slices.Contains(rareSteps, step) && c.Step != step:
			continue
		case i == decided:
			outcome = contract.StepAnswered
		case i > decided:
			outcome = contract.StepNotReached
		}
		out = append(out, contract.RequestStep{Step: step, Outcome: outcome})
	}
	return out
}

// upstreamHeaders returns the headers about the caller, as they follow from what the log has of a call.
func upstreamHeaders(c *Call) []contract.RequestHeader {
	headers := []contract.RequestHeader{
		{Name: "X-Real-IP", Value: c.RemoteIP}, {Name: policy.ProjectHeader, Value: c.ProjectID},
	}
	if c.CredentialID != "" {
		return append(headers,
			contract.RequestHeader{Name: policy.ConsumerIDHeader, Value: policy.ConsumerID(c.ProjectID, c.Owner)},
			contract.RequestHeader{Name: policy.UsernameHeader, Value: c.Owner},
			contract.RequestHeader{Name: policy.CustomIDHeader, Value: c.Owner},
			contract.RequestHeader{Name: policy.CredentialHeader, Value: c.CredentialID},
		)
	}
	if user, _, ok := strings.Cut(c.Owner, " ("); ok {
		headers = append(headers, contract.RequestHeader{Name: policy.UserHeader, Value: user})
	}
	return headers
}
