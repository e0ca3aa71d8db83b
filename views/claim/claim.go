// Package claim holds the page a claim link leads to.
//
// It owns showing what would be claimed and asking into which team; it does not
// own claim codes (accounts).
package claim

import (
	"time"

	"postern/views/ui"
)

// Claim is the page behind /claim/{code}.
type Claim struct {
	Page     ui.Page
	Refusal  string // why nothing can be claimed; the rest is empty then
	Action   string
	Projects []string  // names
	Keys     string    // such as "3 active API keys keep working."
	Ends     time.Time // when it expires, unless it is claimed
	Teams    []ui.Option
}

// Renamed is the answer to a claim into a team that had some of the names.
type Renamed struct {
	Page  ui.Page
	Team  string   // its name
	Names []string // such as: product store → store-2
}

func (c Claim) heading() string {
	if len(c.Projects) == 1 {
		return "Claim this project"
	}
	return "Claim these projects"
}

func (c Claim) intro() string {
	if len(c.Projects) == 1 {
		return "This project was created without an account. Claim it to keep it."
	}
	return "These projects were created without an account. Claim them to keep them."
}

func (c Claim) teams() ui.Group {
	g := ui.Group{ID: "team", Name: "team", Legend: "Team", Options: c.Teams}
	if len(c.Teams) > 1 {
		g.Hint = "If you choose an existing team, its members get access too. A new team keeps the workspace " +
			"separate from your other projects."
	}
	return g
}
