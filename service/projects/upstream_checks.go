package projects

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/policy"
	"postern/platform/fault"
)

// maxCheckPath bounds the length of the path of active checks, in bytes.
const maxCheckPath = 1024

// checkChecks checks how targets are checked.
func checkChecks(pointer string, c contract.UpstreamChecks, unclaimed bool) []fault.Field {
	wrong := checkNumbers(pointer, c.Numbers())
	switch path := c.Path; {
	case !c.Active():
	case unclaimed:
		wrong = append(wrong, onlyClaimed(pointer+"/path", "active checks"))
	case !strings.HasPrefix(*path, "/"):
		wrong = append(wrong, fault.Field{Pointer: pointer + "/path", Code: "invalid_path",
			Detail: "Start the path with a slash, such as /healthz."})
	case len(*path) > maxCheckPath || !isCheckPath(*path):
		wrong = append(wrong, fault.Field{Pointer: pointer + "/path", Code: "invalid_path",
			Detail: fmt.Sprintf("Use a path of at most %s bytes, without spaces, dot segments or a fragment. Escape "+
				"characters that aren't allowed in URLs.", humanize.Comma(maxCheckPath))})
	}
	for i, r := range c.Statuses {
		if _, _, ok := r.Bounds(); !ok {
			wrong = append(wrong, fault.Field{Pointer: fmt.Sprintf("%s/statuses/%d", pointer, i),
				Code:   "invalid_status",
				Detail: `Use a status from 100 to 599, such as 204, or a range such as "200-399".`})
		}
	}
	if c.Statuses != nil && len(c.Statuses) == 0 {
		wrong = append(wrong, fault.Field{Pointer: pointer + "/statuses", Code: "required",
			Detail: `Add a status, or a range such as "200-399".`})
	}
	return wrong
}

// isCheckPath reports whether a path, with a query or without, can be sent unchanged.
func isCheckPath(target string) bool {
	for i := range len(target) {
		if target[i] <= ' ' || target[i] > '~' || strings.IndexByte(`"#<>\^{|}`+"`", target[i]) >= 0 {
			return false
		}
	}
	path, _, _ := strings.Cut(target, "?")
	normal, err := policy.NormalizePath(path)
	return err == nil && normal == path && !policy.HidesDotSegment(path)
}

// checkNumbers checks settings that are numbers.
func checkNumbers(pointer string, numbers []contract.UpstreamNumber) (wrong []fault.Field) {
	for _, n := range numbers {
		if n.Value != nil && (*n.Value < n.Least || *n.Value > n.Most) {
			unit := ""
			if strings.HasSuffix(n.Name, "_ms") {
				unit = " milliseconds"
			}
			wrong = append(wrong, fault.Field{
				Pointer: pointer + "/" + n.Name,
				Code:    "out_of_range",
				Detail: fmt.Sprintf("Use %s to %s%s. The default is %s.", humanize.Comma(int64(n.Least)),
					humanize.Comma(int64(n.Most)), unit, humanize.Comma(int64(n.Default))),
			})
		}
	}
	return wrong
}
