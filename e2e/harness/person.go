package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	devlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"postern/testkit/browser"
)

// Person is someone at a real browser.
type Person struct {
	T         *testing.T
	Tab       context.Context
	strangers []string // see IgnoresErrorsAt

	stays   atomic.Bool
	prompts atomic.Int64 // questions of the browser
}

// NewPerson opens a browser. Whatever the browser complains about, such as a script
// that the content security policy refuses, fails the test.
func NewPerson(t *testing.T) *Person {
	t.Helper()
	p := &Person{T: t, Tab: browser.Open(t)}
	var mu sync.Mutex
	var complaints []string
	err := chromedp.Listen(p.Tab, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *devlog.EventEntryAdded:
			isEntry := func(address string) bool { return strings.HasPrefix(e.Entry.URL, address) }
			if !slices.ContainsFunc(p.strangers, isEntry) && !strings.HasPrefix(e.Entry.Text, fasterThanFocus) {
				complaints = append(complaints, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
			}
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Text)
		case *page.EventJavascriptDialogOpening:
			p.prompts.Add(1)
			go p.answers(!p.stays.Load())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if len(complaints) > 0 {
			t.Errorf("the browser complains:\n%s", strings.Join(complaints, "\n"))
		}
	})
	return p
}

func (p *Person) answers(yes bool) {
	answer := page.HandleJavaScriptDialogParams{Accept: yes}
	if _, err := chromedp.Call(p.Tab, page.HandleJavaScriptDialog, answer); err != nil && p.Tab.Err() == nil {
		p.T.Errorf("answer a question of the browser: %v", err)
	}
}

// Stays says whether the person stays on a page when the browser asks about changes that would be lost. At first, they
// leave.
func (p *Person) Stays(stays bool) { p.stays.Store(stays) }

// Prompts returns how often the browser has asked the person.
func (p *Person) Prompts() int64 { return p.prompts.Load() }

// fasterThanFocus begins what Chromium says when a person has gone to a field before the page's own field got the
// focus, as on a machine that is slower than they are. It isn't a fault of the page.
const fasterThanFocus = "Autofocus processing was blocked because a document already has a focused element"

// IgnoresErrorsAt ignores the browser's errors about addresses with these prefixes, where no server of the test
// listens. It must be called before a page is open.
func (p *Person) IgnoresErrorsAt(addresses ...string) { p.strangers = addresses }

// glance bounds how long a failed test looks at what is on the page.
const glance = 5 * time.Second

// Does takes steps in the browser. If one fails, the test ends and prints the text of the page.
func (p *Person) Does(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.T.Helper()
	if err := chromedp.Do(p.Tab, steps...); err != nil {
		// The tab's own time may be what has run out, and then it reads nothing.
		look, end := context.WithTimeout(context.WithoutCancel(p.Tab), glance)
		defer end()
		text, _ := chromedp.Run(look, chromedp.Text(chromedp.CSS("body")))
		p.T.Fatalf("%s: %v\non the page:\n%s", what, err, text)
	}
}

// Open goes to an address.
func (p *Person) Open(url string) {
	p.T.Helper()
	p.Does("open a page", chromedp.Navigate(url)) // not named: the first one holds a code
}

// Sees waits for the page with that heading.
func (p *Person) Sees(heading string) {
	p.T.Helper()
	p.Reaches(fmt.Sprintf("//h1[normalize-space()=%q]", heading))
}

// Waits waits until an element is visible.
func (p *Person) Waits(selector string) {
	p.T.Helper()
	p.Does("wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector), browser.Steady))
}

// Reaches waits until the page has what the XPath names.
func (p *Person) Reaches(path string) {
	p.T.Helper()
	p.Does("reach "+path, chromedp.WaitVisible(chromedp.Search(path), browser.Steady))
}

// Types types text into the field with that name, after what is already in it.
func (p *Person) Types(field, text string) {
	p.T.Helper()
	p.Does("type into "+field, chromedp.SendKeys(chromedp.CSS("[name="+field+"]"), text, browser.Steady))
}

// Clicks clicks an element.
func (p *Person) Clicks(selector string) {
	p.T.Helper()
	p.Does("click "+selector, chromedp.Click(chromedp.CSS(selector), browser.Steady))
}

// Presses clicks a button whose text begins like that. While a dialog is open only its own can be reached.
func (p *Person) Presses(button string) {
	p.T.Helper()
	const reachable = "[ancestor::dialog[@open] or not(//dialog[@open])]"
	path := fmt.Sprintf("//button[starts-with(normalize-space(), %q)]", button) + reachable
	p.Does("press "+button, chromedp.Click(chromedp.Search(path), browser.Steady))
}

// Follows clicks a link whose text begins like that.
func (p *Person) Follows(link string) {
	p.T.Helper()
	p.Does(
		"follow "+link,
		chromedp.Click(chromedp.Search(fmt.Sprintf("//a[starts-with(normalize-space(), %q)]", link)), browser.Steady),
	)
}

// Reads returns the text of an element.
func (p *Person) Reads(selector string) string {
	p.T.Helper()
	text, err := chromedp.Run(p.Tab, chromedp.TextContent(chromedp.CSS(selector), browser.Steady))
	if err != nil {
		p.T.Fatalf("read %s: %v", selector, err)
	}
	return strings.TrimSpace(text)
}

// Fetches calls an address from the page that is open. It returns the status and the code of
// the body as far as the browser lets the page read them, and else "kept from the page".
func (p *Person) Fetches(address, options string) string {
	p.T.Helper()
	script := fmt.Sprintf(`fetch(%q, %s).then(
		async (answer) => answer.status + " " + ((await answer.json()).code ?? "forwarded"),
		() => "kept from the page")`, address, options)
	awaits := func(in *runtime.EvaluateParams) { in.AwaitPromise = new(true) }
	text, err := chromedp.Run(p.Tab, chromedp.Evaluate[string](script, awaits))
	if err != nil {
		p.T.Fatalf("fetch %s: %v", address, err)
	}
	return text
}

// ForbidsScripts turns scripts off from the next page on.
func (p *Person) ForbidsScripts() {
	p.T.Helper()
	disabled := emulation.SetScriptExecutionDisabledParams{Value: true}
	_, err := chromedp.Call(p.Tab, emulation.SetScriptExecutionDisabled, disabled)
	if err != nil {
		p.T.Fatal(err)
	}
}

// WantsNoMotion keeps pages from scrolling smoothly, which moves what is clicked away
// from under the pointer.
func (p *Person) WantsNoMotion() {
	p.T.Helper()
	still := []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}
	_, err := chromedp.Call(p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: still})
	if err != nil {
		p.T.Fatal(err)
	}
}
