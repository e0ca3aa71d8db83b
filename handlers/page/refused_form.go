package page

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/views/errorpage"
	"postern/views/ui"
)

// refuseVisit answers a visit with an error. A form that is out of date, or whose sender
// lacks the role (which may have changed while the form was open), is shown again with
// what was entered. Forms from other sites never get here: they must not be offered for
// sending.
func (s *Server) refuseVisit(v *Visit, err error) {
	r := v.Gin.Request
	form := refusedForm(r, err)
	if form == nil || v.Account == nil || !web.WantsPage(r) {
		s.Web.Refuse(v.Gin, err)
		return
	}
	web.RecordError(r.Context(), err)
	s.Web.LogCause(r.Context(), err)
	v.Gin.Abort()
	s.Web.WriteProblemPage(v.Gin.Writer, r, err, form)
}

// refusedForm returns the fields of a form that err refuses, nil if sending it again
// cannot help. It leaves passwords and secrets blank.
func refusedForm(r *http.Request, err error) *errorpage.Form {
	form := &errorpage.Form{Action: r.URL.EscapedPath()}
	switch {
	case r.Method != http.MethodPost || strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/"):
		return nil // a file that was chosen cannot be shown again
	case fault.KindOf(err) == fault.Forbidden:
		form.Advice = "Submit the form again once you have the required role."
	case fault.CodeOf(err) == "form_outdated":
		form.Advice = "If you've already submitted this form, check for your change before you submit it again."
		form.State = rand.Text()
	default:
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		if name == ui.NonceField {
			// An invented nonce has no state. No object was ever in the state of a random one.
			form.State = cmp.Or(web.NonceState(r.PostForm.Get(name)), form.State, rand.Text())
			continue
		}
		for i, value := range r.PostForm[name] {
			field := ui.Field{
				ID:           fmt.Sprintf("refused-%s-%d", name, i),
				Name:         name,
				Label:        FieldLabel(name),
				Autocomplete: "off",
				Conditional:  true,
			}
			switch {
			case name == "revision" || value == "" || name == "confirm" && value == "true":
				form.Hidden = append(form.Hidden, errorpage.Pair{Name: name, Value: value})
				continue
			case HasPrivateKey(name, value): // in a field of several lines, because PEM needs its line ends
				form.Blank = true
				field.Multiline = true
			case strings.Contains(name, "password") || strings.Contains(name, "secret"):
				form.Blank = true
				field.Type, field.Autocomplete = "password", "new-password"
			default:
				field.Value.Text = value
			}
			form.Fields = append(form.Fields, field)
		}
	}
	return form
}

// HasPrivateKey reports whether a field is for a private key, or has one pasted into it in PEM.
func HasPrivateKey(name, value string) bool {
	return name == "private_key" || strings.Contains(value, "PRIVATE KEY-----")
}
