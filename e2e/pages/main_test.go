// Package pages tests the dashboard in a browser, as its users see it, from the first start to an export.
//
// It owns the flows that cross pages. Tests of single pages are in handlers/pages, and tests of sign-in to a customer's
// application in e2e/login.
package pages

import (
	"testing"

	"postern/e2e/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
