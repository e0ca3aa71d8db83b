// Package errorpage holds the page for a request that could not be answered.
//
// It owns what a person is told per HTTP status (RFC 9110, section 15); it does
// not own which status an error has (handlers/web/problem.go).
package errorpage

import (
	"strconv"

	"postern/views/ui"
)

// Problem is one failed request.
type Problem struct {
	Page      ui.Page
	Status    int    // HTTP status
	Text      string // the error's public sentence; "" takes one that fits the status
	RequestID string // to find the request in the server's log
	Refused   *Form  // the form that was refused; nil for anything else
}

// Pair is a hidden field.
type Pair struct{ Name, Value string }

// Form is a refused form with what was entered, to be copied or sent again.
type Form struct {
	Action string
	State  string // see ui.NonceFor; "" for a form without a nonce
	Advice string // what to do about it
	Hidden []Pair
	Fields []ui.Field
	Blank  bool // passwords and secrets were entered, which are not shown again
}

func (p Problem) status() string { return strconv.Itoa(p.Status) }

// heading names the problem in the reader's terms.
func (p Problem) heading() string {
	switch p.Status {
	case 403:
		return "You don't have permission"
	case 404:
		return "Page not found"
	case 422:
		if p.Refused != nil {
			return "This form is out of date"
		}
	case 429:
		return "Too many attempts"
	case 503:
		return "Not available right now"
	}
	if p.Status >= 500 {
		return "Something went wrong on the server"
	}
	return "This request failed"
}

func (p Problem) text() string {
	if p.Text != "" {
		return p.Text
	}
	switch p.Status {
	case 403:
		return "Your account isn't allowed to do this, or the request came from another site."
	case 404:
		return "The URL is wrong, the page was removed, or your account can't see it."
	}
	if p.Status >= 500 {
		return "Try again in a moment. An operator can use the request ID below to find the cause in the server log."
	}
	return "Go back and try again."
}
