package projects

import (
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/platform/fault"
)

// checkRetries checks when calls are sent again, which is at pointer.
func checkRetries(pointer string, in contract.UpstreamRetries, unclaimed bool) (wrong []fault.Field) {
	if wrong = checkNumbers(pointer, in.Numbers()); len(wrong) == 0 && unclaimed && in.Max != nil &&
		*in.Max > contract.MostUnclaimedRetries {
		wrong = append(wrong, onlyClaimed(pointer+"/max", "more than one retry"))
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
