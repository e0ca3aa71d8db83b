package api

import (
	"postern/core/contract"
	"postern/platform/fault"
)

type warningOutput = contract.Warning

func showWarnings(list []fault.Warning) []warningOutput {
	out := []warningOutput{}
	for _, one := range list {
		out = append(out, warningOutput(one))
	}
	return out
}
