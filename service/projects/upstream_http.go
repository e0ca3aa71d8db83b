package projects

import (
	"slices"

	"postern/core/contract"
	"postern/platform/fault"
)

// checkHTTP checks the version of HTTP that an upstream is called with.
func checkHTTP(pointer string, version contract.UpstreamHTTP) []fault.Field {
	known := []contract.UpstreamHTTP{"", contract.HTTP1, contract.HTTP2, contract.HTTPAuto}
	if slices.Contains(known, version) {
		return nil
	}
	return []fault.Field{{Pointer: pointer + "/http", Code: "invalid_http_version", Detail: "Use 1.1, 2 or auto."}}
}
