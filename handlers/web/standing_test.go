package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/service/access"
	"postern/testkit"
)

// cuttable is an answer's connection. It closes cut once a deadline in the past is set.
type cuttable struct {
	*httptest.ResponseRecorder
	cut chan struct{}
}

func (c *cuttable) SetWriteDeadline(at time.Time) error {
	if at.Before(time.Now()) {
		close(c.cut)
	}
	return nil
}

// An answer ends within five seconds of the loss of the right to read it, also if the right cannot be checked or the
// answer does not end by itself. A check that fails once ends none.
func TestWhileAllowed(t *testing.T) {
	const lostAt, whole, promised = 10 * time.Second, time.Minute, 5 * time.Second
	refuse := func(context.Context) error { return access.NotFound() }
	fail := func(context.Context) error { return errors.New("the database is away") }
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, tc := range testkit.ByName(map[string]struct {
		check   func(context.Context) error // from lostAt on
		until   time.Duration               // when check succeeds again; 0: never
		ignores bool                        // serve does not look at its context
		ends    bool
	}{
		"the right stands":                    {check: func(context.Context) error { return nil }},
		"the right is lost":                   {check: refuse, ends: true},
		"lost, and serve ignores its context": {check: refuse, ignores: true, ends: true},
		"checks fail":                         {check: fail, ends: true},
		"checks hang":                         {check: hang, ends: true},
		"a check fails once":                  {check: fail, until: lostAt + 2*time.Second},
	}) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				to := &cuttable{httptest.NewRecorder(), make(chan struct{})}
				c, _ := gin.CreateTestContext(to)
				c.Request = httptest.NewRequest("GET", "/", nil)
				may := func(ctx context.Context, _ access.Principal) error {
					since := time.Since(began)
					if since < lostAt || tc.until > 0 && since >= tc.until {
						return nil
					}
					return tc.check(ctx)
				}
				(&web.Site{}).WhileAllowed(c, may, func(ctx context.Context) {
					over := ctx.Done()
					if tc.ignores {
						over = to.cut
					}
					select {
					case <-over:
					case <-time.After(whole):
					}
				})
				switch took := time.Since(began); {
				case !tc.ends && took != whole:
					t.Errorf("it ended after %s, want %s", took, whole)
				case tc.ends && (took < lostAt || took > lostAt+promised):
					t.Errorf("it ended %s after the loss, want %s at most", took-lostAt, promised)
				}
			})
		})
	}
}

// Once a deadline in the past is set, writes do not move it any more.
func TestStallTimeout_cut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		web.StallTimeout(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			connection := http.NewResponseController(w)
			_ = connection.SetWriteDeadline(time.Unix(1, 0))
			_ = connection.SetWriteDeadline(time.Now().Add(time.Minute))
			_, _ = w.Write([]byte("a"))
		})).ServeHTTP(to, httptest.NewRequest("GET", "/", nil))
		if !to.last.Before(time.Now()) {
			t.Errorf("the deadline is %s", to.last)
		}
	})
}

type deadlines struct {
	*httptest.ResponseRecorder
	last time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.last = at
	return nil
}
