package views_test

import "postern/views/ui"

// listed is a list that goes on, with orders of which the first is in force.
func listed(path, things string, orders ...string) ui.List {
	m := ui.List{
		Action:  path,
		Things:  things,
		Search:  "Name",
		Bar:     true,
		Total:   "50 of 312 " + things,
		Found:   "50 " + things + ", sorted by " + orders[0],
		MoreURL: path + "?after=50",
	}
	for i, by := range orders {
		c := ui.Column{ID: by, Text: by, URL: path + "?sort=" + by}
		if i == 0 {
			c.Sort, c.URL = "ascending", path+"?dir=desc&sort="+by
		}
		m.Columns = append(m.Columns, c)
	}
	return m
}

// second is the list under its own names, next to another one of the page.
func second(prefix string, m ui.List) ui.List {
	m.Prefix = prefix
	return m
}

// narrowed is the list with a search and a filter in force.
func narrowed(m ui.List) ui.List {
	state := func(text string, current bool) ui.Tab {
		return ui.Tab{URL: m.Action + "?state=" + text, Text: text, Current: current}
	}
	m.Text, m.ClearURL, m.MoreURL = "eve", m.Action, ""
	m.Kept = []ui.Hidden{{Name: "state", Value: "frozen"}}
	m.Filters = []ui.Filter{{Title: "State", Options: []ui.Tab{state("active", false), state("frozen", true)}}}
	m.Chips = []ui.Chip{{Text: "State: frozen", URL: m.Action + "?q=eve"}}
	return m
}
