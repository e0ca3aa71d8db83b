// Package browser gives tests a real, headless Chromium.
//
// It owns finding and starting one; it does not own what is done in it
// (github.com/chromedp/chromedp, which speaks the DevTools protocol).
package browser

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// startWithin bounds the start of the browser. patience bounds one test's use of it, so
// that a page that never becomes what the test waits for ends in an error that says
// which. farewell bounds how long the browser may take to close.
const (
	startWithin = time.Minute
	patience    = 20 * time.Minute
	farewell    = 10 * time.Second
)

// Steady has a step check the page 20 times a second until it has what the step waits for. chromedp looks every 5 ms,
// which keeps the browser from making it.
var Steady = chromedp.RetryInterval(50 * time.Millisecond)

// names are those that Debian, Ubuntu, Google and Apple give it. The headless shell, which has the engine and no
// windows, needs half the processor time of the others.
var names = []string{
	"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// Open starts a browser with an empty profile and returns the context of its
// first tab for chromedp.Run and chromedp.Do. The browser ends with the test; a test without
// Chromium fails.
func Open(t testing.TB) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(find(t)),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.WSURLReadTimeout(startWithin),
		chromedp.WindowSize(1280, 900),
		chromedp.DisableGPU,
		// Traffic of the browser's own: only the pages under test may be fetched.
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		// A page that is kept in memory comes back without the events that chromedp
		// waits for; a step back loads it again, as in a browser short of memory.
		chromedp.Flag("disable-back-forward-cache", true),
		// Requests of third-party pages to other hosts find no address.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE "+
			"*.localhost"),
		chromedp.NoFirstRun,
	)
	// Chromium refuses to run its sandbox as root.
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	tab, stop := chromedp.NewContext(allocator, chromedp.WithErrorf(t.Logf))
	t.Cleanup(stop)
	// The first call starts the process; its context must not have a deadline,
	// for the process would end with it.
	if err := chromedp.Do(tab); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	// The browser has to let go of its profile before that is removed.
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(tab, farewell)
		defer stop()
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("close the browser: %v", err)
		}
	})
	ctx, stop := context.WithTimeout(tab, patience)
	t.Cleanup(stop)
	return ctx
}

func find(t testing.TB) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium for this test: run `make test`, or install Debian's package chromium-headless-shell")
	return ""
}
