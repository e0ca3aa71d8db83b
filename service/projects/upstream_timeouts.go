package projects

import (
	"context"
	"slices"

	"postern/core/contract"
	"postern/platform/fault"
	"postern/service/access"
)

// checkUpstream checks the settings of an environment's upstream, which are at pointer, and writes them in one form.
// What they require of other settings and of the target is left to fitUpstream.
func (s *Service) checkUpstream(
	ctx context.Context, p access.Principal, pointer string, in *contract.Upstream,
) ([]fault.Field, error) {
	capped := s.CapUnclaimed && unclaimed(p)
	wrong := slices.Concat(
		checkNumbers(pointer+"/timeouts", in.Timeouts.Numbers()),
		checkRetries(pointer+"/retries", in.Retries, capped),
		checkBalance(pointer+"/balance", in.Balance),
		checkChecks(pointer+"/checks", in.Checks, capped),
		checkNumbers(pointer+"/breaker", in.Breaker.Numbers()),
		checkHTTP(pointer, in.HTTP),
	)
	wrong = append(wrong, s.checkUpstreamTLS(p, pointer, in)...)
	field, err := s.checkHostHeader(ctx, p, pointer+"/host_header", in)
	if field != nil {
		wrong = append(wrong, *field)
	}
	return wrong, err
}
