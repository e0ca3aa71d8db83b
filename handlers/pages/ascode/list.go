package ascode

import (
	"net/url"
	"slices"
)

// listQuery are the search and the order of a list. orders are those that the page offers, with - before those that
// begin at the end.
func listQuery(orders ...string) []Field {
	return listOf("", orders...)
}

// listOf is listQuery for a list that a page with several has under its own names.
func listOf(prefix string, orders ...string) []Field {
	return []Field{Text(prefix+"q", "q", "--search"), sorted(prefix+"sort", prefix+"dir", orders...)}
}

// sorted joins an order and its direction, as in -created. Other orders are left out, as the page does.
func sorted(by, dir string, orders ...string) Field {
	return Func(by, "sort", func(query url.Values) (any, [][]string) {
		order, desc := query.Get(by), query.Get(dir) == "desc"
		switch {
		case slices.Contains(orders, "-"+order):
			desc = query.Get(dir) != "asc"
		case !slices.Contains(orders, order):
			return nil, nil
		}
		if desc {
			order = "-" + order
		}
		return order, [][]string{{"--sort", order}}
	})
}
