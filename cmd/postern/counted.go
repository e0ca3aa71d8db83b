package main

import (
	"fmt"
	"io"
	"strings"
)

// counted is a number of things, such as keys.
type counted struct {
	n      int64
	one    string // what one is called; several have an s
	detail string // after the name, such as "(2 active)"
}

// String returns such as "1 key" or "2 keys (1 active)".
func (c counted) String() string {
	text := fmt.Sprintf("%d %s", c.n, c.one)
	if c.n != 1 {
		text += "s"
	}
	if c.detail != "" {
		text += " " + c.detail
	}
	return text
}

// active counts keys.
func active(keys, active int64) counted {
	return counted{n: keys, one: "key", detail: fmt.Sprintf("(%d active)", active)}
}

// printAlong prints what a deletion takes along.
func printAlong(out io.Writer, things ...counted) error {
	var some []string
	for _, c := range things {
		if c.n > 0 {
			some = append(some, c.String())
		}
	}
	if len(some) == 0 {
		some = []string{"nothing else"}
	}
	_, err := fmt.Fprintf(out, "Goes along: %s.\n", strings.Join(some, ", "))
	return err
}
