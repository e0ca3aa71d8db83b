package main

import (
	"fmt"
	"io"

	"postern/core/contract"
)

// printWarnings prints what the server allowed but may surprise, a line each.
func printWarnings(w io.Writer, list []contract.Warning) {
	for i, one := range list {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Note: %s (%s)\n", printable(one.Detail), printable(one.Code))
	}
}
