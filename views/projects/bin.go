package projects

import (
	"time"

	"postern/views/ui"
)

// Bin lists the deleted projects of a team, which can be restored.
type Bin struct {
	Page ui.Page
	List ui.List
	Rows []BinRow
}

// BinRow is a deleted project.
type BinRow struct {
	Name        string
	DisplayName string
	URL         string
	Deleted     time.Time
	Purge       time.Time // when it is permanently deleted
	RestoreURL  string    // "" for viewers
	EraseURL    string    // of the page that permanently deletes it; "" for those who may not
	ExportURL   string
}

// Deletion asks before a project is deleted, and says what will be deleted with it.
type Deletion struct {
	Page       ui.Page
	Project    string // display name
	Facts      []ui.Fact
	Newest     time.Time // when the newest export was started; the zero time for never
	ExportURL  string
	Notes      []string
	Confirm    *ui.Confirmation // to the trash; nil if it is there, or for viewers
	RestoreURL string           // posts; "" unless it is in the trash
	Erase      *ui.Confirmation // nil for those who may not
	BackURL    string
}
