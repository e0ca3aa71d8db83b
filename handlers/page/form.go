package page

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/idempotency"
	"postern/views/ui"
)

// A form carries a nonce that belongs to the session and the form. The first submission
// with it is executed and answered with a redirect; later ones get the same redirect and
// change nothing, so that a reload, a double click or a step back is harmless.

// keptRedirect is the answer to a form, as it is sealed and kept.
type keptRedirect struct {
	To    string `json:"to"`
	Flash string `json:"flash,omitempty"`
}

// idempotentForm executes a form once. Forms that lead to a secret require the nonce
// (demand). On others it is optional, because sending them twice is harmless.
func (s *Server) idempotentForm(page Handler, demand bool) Handler {
	return func(v *Visit) (web.Answer, error) {
		nonce := v.Posted(ui.NonceField)
		if nonce == "" && !demand {
			return page(v)
		}
		session := s.Web.Sessions().Read(v.Gin.Request)
		v.State = web.NonceState(nonce)
		want := web.FormNonce(session, v.Gin.Request.URL.Path, v.State)
		if session == "" || subtle.ConstantTimeCompare([]byte(nonce), []byte(want)) != 1 {
			return web.Answer{}, fault.New(
				fault.Invalid, "form_outdated",
				"You opened this form before you signed in, or the page has changed since you opened it.",
			)
		}
		attempt, kept, err := s.beginForm(v, formRequest(v, session))
		if err != nil {
			return web.Answer{}, err
		}
		if attempt != nil {
			return s.attemptForm(v, attempt, page)
		}
		var redirect keptRedirect
		if err := json.Unmarshal(kept, &redirect); err != nil {
			return web.Answer{}, fmt.Errorf("read the stored response to a form: %w", err)
		}
		return web.Answer{Status: http.StatusSeeOther, To: redirect.To, Flash: redirect.Flash}, nil
	}
}

// formRequest identifies a submission: the same for the same rendering of a form with the
// same fields. A form that was edited and sent again is another request.
func formRequest(v *Visit, session string) idempotency.Request {
	fields := sha256.Sum256([]byte(v.Gin.Request.PostForm.Encode())) // the nonce is one of them
	return idempotency.Request{
		Credential: session,
		Key:        string(fields[:]),
		Method:     http.MethodPost,
		Path:       v.Gin.Request.URL.Path,
	}
}

// OutdatedForm turns a stale-object error into a conflict, which the page shows above
// the form with the current state.
func OutdatedForm(err error) error {
	if fault.KindOf(err) != fault.Stale {
		return err
	}
	return fault.New(fault.Conflict, "form_outdated", "The settings changed after you opened the page, for example "+
		"in another tab, so the secret wasn't replaced. The page now shows the new settings. Submit the form again to "+
		"replace the secret.")
}

// A second submission waits for the first one, whose answer the browser has dropped.
const (
	formPatience = 15 * time.Second
	formPoll     = 50 * time.Millisecond
)

func (s *Server) beginForm(v *Visit, r idempotency.Request) (*idempotency.Attempt, []byte, error) {
	ctx, stop := context.WithTimeout(v.Ctx(), formPatience)
	defer stop()
	for {
		attempt, kept, err := s.Idempotency.Begin(v.Ctx(), r)
		switch fault.CodeOf(err) {
		case "idempotency_in_progress":
			select {
			case <-time.After(formPoll):
				continue
			case <-ctx.Done():
				err = fault.New(fault.Conflict, "form_in_progress", "This form was already submitted and is being "+
					"processed. Check again in a moment.")
			}
		case "idempotency_answer_lost":
			err = fault.New(fault.Conflict, "form_answer_lost",
				"This form was already processed, but its result was lost. Check whether your change was made, then "+
					"reload the page before you submit the form again.")
		}
		return attempt, kept, err
	}
}

// attemptForm runs the form and keeps its redirect. After any other outcome, such as an
// invalid field or a panic, the form can be sent again.
func (s *Server) attemptForm(v *Visit, attempt *idempotency.Attempt, page Handler) (a web.Answer, err error) {
	ctx := v.Ctx()
	kept := false
	defer func() {
		if kept {
			return
		}
		if err := attempt.Abandon(ctx); err != nil {
			s.Web.Log.ErrorContext(ctx, "could not abandon a form", "request", web.RequestID(ctx), "error", err)
		}
	}()
	v.Gin.Request = v.Gin.Request.WithContext(attempt.Context(ctx))
	a, err = page(v)
	if err != nil || a.To == "" {
		return a, err
	}
	redirect, err := json.Marshal(keptRedirect{To: a.To, Flash: a.Flash})
	if err != nil {
		return web.Answer{}, err
	}
	if err := attempt.Keep(ctx, redirect); err != nil {
		s.Web.Log.ErrorContext(ctx, "could not store the response to a form",
			"request", web.RequestID(ctx), "error", err)
		return a, nil
	}
	kept = true
	return a, nil
}

// Disclosed is content that the page behind a form shows once.
type Disclosed struct {
	Heading string            `json:"heading,omitempty"`
	Text    string            `json:"text,omitempty"`
	Secret  string            `json:"secret,omitempty"`
	Keys    map[string]string `json:"keys,omitempty"`  // by environment
	Lines   []string          `json:"lines,omitempty"` // not secret, but not kept anywhere else
}

// disclosure identifies the content that waits for the session that created it. It is
// sealed with the session's secret, so that a copy of the database does not reveal it.
func (v *Visit) disclosure(path string) idempotency.Request {
	return idempotency.Request{
		Credential: v.Server.Web.Sessions().Read(v.Gin.Request),
		Key:        "disclosure",
		Method:     http.MethodGet,
		Path:       path,
	}
}

// Disclose redirects to the page that shows the content once. If the content cannot be
// kept, that page says that it was already shown, as after a reload.
func (v *Visit) Disclose(path string, what Disclosed) (web.Answer, error) {
	content, err := json.Marshal(what) //nolint:gosec // PutOneTime seals the secret in it
	if err == nil {
		err = v.Server.Idempotency.PutOneTime(v.Ctx(), v.disclosure(path), content)
	}
	if err != nil {
		v.Server.Web.LogCause(v.Ctx(), fmt.Errorf("keep what %s shows once: %w", web.RedactPath(path), err))
	}
	return web.Redirect(path), nil
}

// Disclosed returns the content that disclose kept for the page at path, the first time; nil
// after that. HEAD leaves it for the GET.
func (v *Visit) Disclosed(path string) (*Disclosed, error) {
	if v.Gin.Request.Method == http.MethodHead {
		return nil, nil
	}
	content, err := v.Server.Idempotency.TakeOneTime(v.Ctx(), v.disclosure(path))
	if err != nil || content == nil {
		return nil, err
	}
	var out Disclosed
	if err := json.Unmarshal(content, &out); err != nil {
		return nil, fmt.Errorf("read what %s shows once: %w", web.RedactPath(path), err)
	}
	web.KeepUncompressed(v.Gin.Writer)
	return &out, nil
}

// Once is for a form whose fields are known only now, such as one with a file: it executes page once for them.
func (v *Visit) Once(page Handler) (web.Answer, error) {
	return v.Server.idempotentForm(page, false)(v)
}
