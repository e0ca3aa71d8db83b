package projects

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/platform/fault"
)

// checkUpstream checks the settings of an environment's upstream, which are at pointer. The projects of an unclaimed
// workspace can have less.
func checkUpstream(pointer string, in contract.Upstream, unclaimed bool) (wrong []fault.Field) {
	for _, t := range in.Timeouts.Each() {
		if t.Value != nil && (*t.Value < 1 || *t.Value > t.Most) {
			wrong = append(wrong, fault.Field{
				Pointer: pointer + "/timeouts/" + t.Name,
				Code:    "invalid_timeout",
				Detail: fmt.Sprintf("Use 1 to %s milliseconds. The default is %s.", humanize.Comma(int64(t.Most)),
					humanize.Comma(int64(t.Default))),
			})
		}
	}
	return append(wrong, checkRetries(pointer+"/retries", in.Retries, unclaimed)...)
}
