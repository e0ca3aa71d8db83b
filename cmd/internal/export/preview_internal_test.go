package export

import (
	"strings"
	"testing"

	"postern/core/contract"
)

func TestWriteToDos(t *testing.T) {
	line := func(status, title, remedy string) contract.LedgerLine {
		l := contract.LedgerLine{Status: status, Title: title, Configured: true}
		if remedy != "" {
			l.Remedy = &remedy
		}
		return l
	}
	var out strings.Builder
	WriteToDos(&out, []contract.LedgerLine{
		line("exact", "Keys", ""),
		line("exact", "Limits", "Run one node."),
		line("lossy", "Rules", "Start OpenFGA."),
		line("lossy", "Sizes", "Turn off early hints."),
		line("lossy", "Rules", "Start OpenFGA."),
		line("lossy", "Owners", "Start OpenFGA."),
		line("lossy", "Sizes", "Close WebSockets."),
		line("lossy", "Sizes", ""),
		line("skipped", "Secrets", ""),
		line("skipped", "Secrets", ""),
		line("skipped", "Credits", ""),
	})
	const want = `To do
    Rules, Owners: Start OpenFGA.
    Sizes:
    - Turn off early hints.
    - Close WebSockets.
    Limits: Run one node.
Not moved
    Secrets, Credits.
`
	if out.String() != want {
		t.Errorf("the text is\n%s\nwant\n%s", out.String(), want)
	}
}

func TestWriteLedger(t *testing.T) {
	remedy := "Run one node."
	lines := []contract.LedgerLine{
		{Status: "exact", Title: "Limits", Code: "kong.limits.plugin", Count: 2, Note: "The same.", Remedy: &remedy,
			Configured: true},
		{Status: "exact", Title: "Keys", Code: "kong.key.hash", Count: 1, Note: "They work.", Configured: true},
		{Status: "lossy", Title: "Trailers", Code: "kong.request_limits.trailers", Count: 1, Note: "They are dropped.",
			Remedy: &remedy},
		{Status: "approximate", Title: "Routes", Code: "kong.route.regex_path", Count: 2, Note: "Close.",
			Configured: true},
	}
	var out strings.Builder
	writeLedger(&out, lines, "Move", false)
	const want = `To do
  Limits (2), exact: kong.limits.plugin
    The same.
    To do: Run one node.

Move with differences
  Routes (2), approximate: kong.route.regex_path
    Close.

Move unchanged
    Keys.

The same for every project
    Trailers.

`
	if out.String() != want {
		t.Errorf("the text is\n%s\nwant\n%s", out.String(), want)
	}
}
