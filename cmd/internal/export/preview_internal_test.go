package export

import (
	"strings"
	"testing"

	"postern/core/contract"
)

func TestWriteUnmoved(t *testing.T) {
	line := func(status, title, remedy string) contract.LedgerLine {
		l := contract.LedgerLine{Status: status, Title: title}
		if remedy != "" {
			l.Remedy = &remedy
		}
		return l
	}
	var out strings.Builder
	WriteUnmoved(&out, []contract.LedgerLine{
		line("lossy", "Rules", "Start OpenFGA."),
		line("lossy", "Sizes", "Turn off early hints."),
		line("lossy", "Rules", "Start OpenFGA."),
		line("exact", "Keys", "Never shown."),
		line("lossy", "Owners", "Start OpenFGA."),
		line("lossy", "Sizes", "Close WebSockets."),
		line("lossy", "Sizes", ""),
		line("skipped", "Secrets", ""),
		line("skipped", "Secrets", ""),
		line("skipped", "Credits", ""),
	})
	const want = `Not moved
    Nothing to do about: Secrets, Credits.
Moved in part
    Rules, Owners: Start OpenFGA.
    Sizes:
    - Turn off early hints.
    - Close WebSockets.
`
	if out.String() != want {
		t.Errorf("the text is\n%s\nwant\n%s", out.String(), want)
	}
}
