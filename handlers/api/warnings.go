package api

import "postern/platform/fault"

// warningOutput is what is allowed but may surprise.
type warningOutput struct {
	Code   string `json:"code" doc:"Stable code, for example passthrough or no_redirect_uri"`
	Detail string `json:"detail" doc:"What happens, and how to change it"`
}

func showWarnings(list []fault.Warning) []warningOutput {
	out := []warningOutput{}
	for _, one := range list {
		out = append(out, warningOutput(one))
	}
	return out
}
