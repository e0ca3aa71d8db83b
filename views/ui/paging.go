package ui

// Paging leads through a list that is shown in parts.
type Paging struct {
	Things  string // that are listed, such as operations
	Shown   string // which of them are on the page; "": all, and there is nothing to lead to
	PrevURL string // "": this is the first page
	NextURL string // "": this is the last one
}
