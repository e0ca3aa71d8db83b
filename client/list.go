package client

import "net/url"

// ListOptions orders and narrows a list; what is empty is left to the server. Each list has some of the options, and
// the server refuses the others by name.
type ListOptions struct {
	Sort   string // such as name, or -name for the reverse
	Text   string // that what is listed contains
	State  string
	Format string // of exports
}

func queryOf(options []ListOptions) url.Values {
	query := url.Values{}
	for _, o := range options {
		for name, value := range map[string]string{
			"sort":   o.Sort,
			"q":      o.Text,
			"state":  o.State,
			"format": o.Format,
		} {
			if value != "" {
				query.Set(name, value)
			}
		}
	}
	return query
}
