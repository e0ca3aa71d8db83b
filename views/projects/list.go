package projects

import (
	"time"

	"postern/views/ui"
)

// List is every project the account may see.
type List struct {
	Page     ui.Page
	Projects []Card
	ReadOnly bool   // for viewers, who cannot create one
	BinURL   string // "" while the trash is empty
	List     ui.List
	Claims   []Offer
}

// Offer offers to claim the projects that this browser created without an account.
type Offer struct {
	Projects string    // names
	Ends     time.Time // when they expire, unless they are claimed
	URL      string    // of the page that claims it
}

// Card is one project in the list.
type Card struct {
	ID           string
	Name         string
	DisplayName  string
	Version      string // the version whose addresses are shown, or "3 versions"
	Access       ui.Badge
	ActiveKeys   string    // such as "2 active keys"
	Addresses    []Address // the first few
	Overview     Overview
	More         string // such as "17 more environments", "" where all are shown
	ConfigureURL string
	ExportURL    string
	PreviewURL   string // of what an export would move
}

// Address is where one environment answers.
type Address struct {
	ID          string // unique on the page
	Environment string
	URL         string
}

// New asks for a project. It posts target, name and require_keys (true or
// absent) to /projects/new.
type New struct {
	Page        ui.Page
	Denied      bool // to a viewer of the chosen team
	Target      ui.Value
	Name        ui.Value
	RequireKeys bool
	Error       string
}

// Created is a project just made, with what is never shown again.
type Created struct {
	Page         ui.Page
	DisplayName  string
	Addresses    []Address
	Targets      []Target // those that can be checked
	Keys         []Minted
	KeysGone     bool   // the keys that were made with it have been shown before
	Curl         string // a call to try, with the first key where there is one; "" when it would be refused
	ConfigureURL string
}

// Target is the target of an environment, which a post to CheckAction checks.
type Target struct {
	ID          string // unique on the page
	Environment string
	URL         string
	CheckAction string
}

func (c Created) keysTitle() string {
	if len(c.Keys) == 1 {
		return "Your key"
	}
	return "Your keys"
}

func (c Created) keysWarning() string {
	if len(c.Keys) == 1 {
		return "Copy the key now. You won't see it again."
	}
	return "Copy the keys now. You won't see them again."
}

func (c Created) copied() string {
	if len(c.Keys) == 1 {
		return "I've copied the key"
	}
	return "I've copied the keys"
}

// Minted is a key in plain text.
type Minted struct {
	ID          string // unique on the page
	Environment string // "" is all
	Key         string
}
