package projects

import (
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/platform/fault"
)

// checkRetries checks when calls are sent again, which is at pointer.
func checkRetries(pointer string, in contract.UpstreamRetries, unclaimed bool) (wrong []fault.Field) {
	if in.Max != nil && (*in.Max < 0 || *in.Max > contract.MostRetries) {
		wrong = append(wrong, fault.Field{
			Pointer: pointer + "/max",
			Code:    "invalid_retries",
			Detail:  fmt.Sprintf("Use 0 to %d. The default is 1.", contract.MostRetries),
		})
	} else if in.Max != nil && unclaimed && *in.Max > contract.MostUnclaimedRetries {
		wrong = append(wrong, fault.Field{
			Pointer: pointer + "/max",
			Code:    "retries_need_claim",
			Detail:  "Unclaimed proxies can send a call again only once. Use 0 or 1, or sign in to use more.",
		})
	}
	if in.On == nil {
		return wrong
	}
	for i, c := range *in.On {
		at := fmt.Sprintf("%s/on/%d", pointer, i)
		switch {
		case !slices.Contains(contract.RetryConditions, c):
			wrong = append(wrong, fault.Field{
				Pointer: at, Code: "invalid_retry_condition", Detail: `Use 502, 503, 504 or "timeout".`,
			})
		case slices.Contains((*in.On)[:i], c):
			wrong = append(wrong, fault.Field{
				Pointer: at, Code: "duplicate", Detail: "This condition is listed twice. Remove one.",
			})
		}
	}
	return wrong
}
