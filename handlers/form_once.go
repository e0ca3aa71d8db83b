package handlers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"postern/fault"
	"postern/idempotency"
	"postern/views/ui"
)

// A form carries a nonce. The first submission with it is carried out and answered
// with a redirect; each one after it gets the same redirect and changes nothing,
// so that a reload, a double click or a step back does no harm.

// sameForm says which submissions of a form are one.
type sameForm int

const (
	// sameContent: the same nonce with the same fields. The nonce is of one
	// rendering of the page; a form that was edited and sent again is another.
	sameContent sameForm = iota
	// sameState: the same nonce alone. The nonce is of the state that the form was
	// rendered from (stateNonce), so that two tabs cannot both rotate one key.
	sameState
)

const (
	nonceBytes = 16 // 128 bits
	nonceText  = 22 // nonceBytes in base64
)

func newNonce() string {
	b := make([]byte, nonceBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// stateNonce is the nonce of a form that may be carried out once for a state of an
// object, given by what a success changes.
func stateNonce(state ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(state, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:nonceBytes])
}

// keptRedirect is the answer to a form as it is sealed.
type keptRedirect struct {
	To    string `json:"to"`
	Flash string `json:"flash,omitempty"`
}

// sentOnce carries a form out once. Pages of forms that show a secret demand the
// nonce; on others it is optional, since sending them twice does no harm.
func (s *Server) sentOnce(page pageHandler, same sameForm, demand bool) pageHandler {
	return func(v *visit) (answer, error) {
		nonce := v.posted(ui.OnceField)
		if nonce == "" && !demand {
			return page(v)
		}
		if len(nonce) != nonceText {
			return answer{}, fault.New(fault.Invalid, "form_outdated",
				"This form was not sent from a page as it is now, and nothing was changed. Go back, reload the page "+
					"and send the form again.")
		}
		attempt, kept, err := s.beginForm(v, formRequest(v, nonce, same))
		if err != nil {
			return answer{}, err
		}
		if attempt != nil {
			return s.attemptForm(v, attempt, page)
		}
		var redirect keptRedirect
		if err := json.Unmarshal(kept, &redirect); err != nil {
			return answer{}, fmt.Errorf("read the kept answer to a form: %w", err)
		}
		return answer{status: http.StatusSeeOther, to: redirect.To, flash: redirect.Flash}, nil
	}
}

// formRequest belongs to the account, not to the session: a form that is sent
// again after the session was rotated or renewed is still the same.
func formRequest(v *visit, nonce string, same sameForm) idempotency.Request {
	r := idempotency.Request{Credential: v.who.Account, Key: nonce, Method: http.MethodPost, Path: v.c.Request.URL.Path}
	if same == sameContent {
		fields := sha256.Sum256([]byte(v.c.Request.PostForm.Encode()))
		r.Key += string(fields[:])
	}
	return r
}

// A second submission waits for the first, whose answer the browser has dropped.
const (
	formPatience = 15 * time.Second
	formPoll     = 50 * time.Millisecond
)

func (s *Server) beginForm(v *visit, r idempotency.Request) (*idempotency.Attempt, []byte, error) {
	ctx, stop := context.WithTimeout(v.ctx(), formPatience)
	defer stop()
	for {
		attempt, kept, err := s.Idempotency.Begin(v.ctx(), r)
		switch fault.CodeOf(err) {
		case "idempotency_in_progress":
			select {
			case <-time.After(formPoll):
				continue
			case <-ctx.Done():
				err = fault.New(fault.Conflict, "form_in_progress", "This form was sent before and is still being "+
					"carried out. Look again in a moment.")
			}
		case "idempotency_answer_lost":
			err = fault.New(fault.Conflict, "form_answer_lost",
				"This form was carried out before, but its answer was lost. Look at what there is now before you "+
					"send it again from a new page.")
		}
		return attempt, kept, err
	}
}

// attemptForm runs the form and keeps a redirect. After anything else, such as a
// field that is wrong, or a panic, the form can be sent again.
func (s *Server) attemptForm(v *visit, attempt *idempotency.Attempt, page pageHandler) (a answer, err error) {
	ctx := v.ctx()
	kept := false
	defer func() {
		if kept {
			return
		}
		if err := attempt.Abandon(ctx); err != nil {
			s.Log.Error("a form could not be given up", "request", requestID(ctx), "error", err)
		}
	}()
	v.c.Request = v.c.Request.WithContext(attempt.Context(ctx))
	a, err = page(v)
	if err != nil || a.to == "" {
		return a, err
	}
	redirect, err := json.Marshal(keptRedirect{To: a.to, Flash: a.flash})
	if err != nil {
		return answer{}, err
	}
	if err := attempt.Keep(ctx, redirect); err != nil {
		s.Log.Error("the answer to a form is not kept", "request", requestID(ctx), "error", err)
		return a, nil
	}
	kept = true
	return a, nil
}

// disclosed is what the page behind a form shows once.
type disclosed struct {
	Heading string            `json:"heading,omitempty"`
	Text    string            `json:"text,omitempty"`
	Secret  string            `json:"secret,omitempty"`
	Keys    map[string]string `json:"keys,omitempty"`  // by environment
	Lines   []string          `json:"lines,omitempty"` // not secret, but not kept anywhere else
}

// disclosure is where a page's content waits for the session that made it. A copy
// of the database alone does not open it: that takes the session's secret.
func (s *Server) disclosure(v *visit, path string) idempotency.Request {
	return idempotency.Request{
		Credential: s.sessions().read(v.c.Request),
		Key:        "disclosure",
		Method:     http.MethodGet,
		Path:       path,
	}
}

// disclose leads to the page that shows what a form made, once. When that cannot be
// kept, the page says that it is gone, as after a reload.
func (s *Server) disclose(v *visit, path string, what disclosed) (answer, error) {
	content, err := json.Marshal(what)
	if err == nil {
		err = s.Idempotency.PutOneTime(v.ctx(), s.disclosure(v, path), content)
	}
	if err != nil {
		s.logCause(v.ctx(), fmt.Errorf("keep what %s shows once: %w", logPath(path), err))
	}
	return goTo(path), nil
}

// disclosed returns what disclose kept for the page at path, once; nil after that.
// HEAD leaves it for the GET.
func (s *Server) disclosed(v *visit, path string) (*disclosed, error) {
	if v.c.Request.Method == http.MethodHead {
		return nil, nil
	}
	content, err := s.Idempotency.TakeOneTime(v.ctx(), s.disclosure(v, path))
	if err != nil || content == nil {
		return nil, err
	}
	var out disclosed
	if err := json.Unmarshal(content, &out); err != nil {
		return nil, fmt.Errorf("read what %s shows once: %w", logPath(path), err)
	}
	return &out, nil
}
