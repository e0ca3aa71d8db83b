package ascode

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Form is a form of a page, with the values that it has there.
type Form struct {
	Action string
	Values url.Values

	id   string
	sent bool // it has a button that sends it
}

// ReadForms lists the forms that a page can send with POST, with what would be sent (HTML,
// 4.10.22.4) by the first of their buttons.
func ReadForms(page []byte) []Form {
	r := formReader{z: html.NewTokenizer(bytes.NewReader(page))}
	for {
		switch r.z.Next() {
		case html.ErrorToken: // the end of the page
			return r.done()
		case html.StartTagToken, html.SelfClosingTagToken:
			if t, ok := r.tag(); ok {
				r.start(t)
			}
		case html.EndTagToken:
			name, _ := r.z.TagName()
			r.end(string(name))
		case html.TextToken:
			if r.area != nil {
				r.text += string(r.z.Text())
			}
		}
	}
}

// formReader is the state of reading a page.
type formReader struct {
	z       *html.Tokenizer
	forms   []*Form
	current *Form
	off     int // fieldsets that are open and disabled, or within one that is

	area   *control // a textarea that is open, and its text
	text   string
	choice *control // a select that is open
	first  *string  // its first option

	later []control // of forms that are named by id
}

// control is a field that belongs to a form, by place or by the form's id.
type control struct {
	form     *Form
	id, name string
	value    string
	sends    bool // it is a button
}

// tags are those that a form is read from. Most of a page are others.
var tags = map[string]bool{
	"form": true, "fieldset": true, "option": true, "textarea": true, "select": true, "button": true, "input": true,
}

// tag returns the tag at which the page is, false for one that forms are not read from.
func (r *formReader) tag() (t html.Token, ok bool) {
	name, more := r.z.TagName()
	if !tags[string(name)] {
		return t, false
	}
	t.Data = string(name)
	for more {
		var key, value []byte
		key, value, more = r.z.TagAttr()
		t.Attr = append(t.Attr, html.Attribute{Key: string(key), Val: string(value)})
	}
	return t, true
}

func (r *formReader) start(t html.Token) {
	has := func(name string) (string, bool) {
		i := slices.IndexFunc(t.Attr, func(a html.Attribute) bool { return a.Key == name })
		if i < 0 {
			return "", false
		}
		return t.Attr[i].Val, true
	}
	get := func(name string) string {
		value, _ := has(name)
		return value
	}
	_, disabled := has("disabled")
	switch t.Data {
	case "form":
		r.current = &Form{Action: get("action"), Values: url.Values{}, id: get("id")}
		if strings.EqualFold(get("method"), "post") {
			r.forms = append(r.forms, r.current)
		}
		return
	case "fieldset":
		if disabled || r.off > 0 {
			r.off++
		}
		return
	case "option":
		r.option(get("value"), has)
		return
	}
	if disabled || r.off > 0 {
		return
	}
	c := control{form: r.current, id: get("form"), name: get("name"), value: get("value")}
	switch t.Data {
	case "textarea":
		r.area, r.text = &c, ""
	case "select":
		r.choice, r.first = &c, nil
	case "button":
		if kind := get("type"); kind == "" || kind == "submit" {
			c.sends = true
			r.add(c)
		}
	case "input":
		r.input(c, get("type"), has)
	}
}

func (r *formReader) input(c control, kind string, has func(string) (string, bool)) {
	_, checked := has("checked")
	switch {
	case kind == "file" || kind == "password": // files have no value, and secrets are left alone
		c.value = ""
	case (kind == "checkbox" || kind == "radio") && !checked:
		return
	}
	r.add(c)
}

func (r *formReader) option(value string, has func(string) (string, bool)) {
	if r.choice == nil {
		return
	}
	if _, off := has("disabled"); off {
		return
	}
	if r.first == nil {
		r.first = &value
	}
	if _, selected := has("selected"); selected {
		r.first = &value
	}
}

func (r *formReader) end(name string) {
	switch name {
	case "form":
		r.current = nil
	case "fieldset":
		r.off = max(0, r.off-1)
	case "textarea":
		if r.area != nil {
			r.area.value = strings.TrimPrefix(r.text, "\n")
			r.add(*r.area)
			r.area = nil
		}
	case "select":
		if r.choice != nil && r.first != nil {
			r.choice.value = *r.first
			r.add(*r.choice)
		}
		r.choice = nil
	}
}

func (r *formReader) add(c control) {
	if c.id != "" {
		r.later = append(r.later, c)
		return
	}
	c.addTo(c.form)
}

func (c control) addTo(form *Form) {
	if form == nil {
		return
	}
	if c.sends {
		if form.sent {
			return // the first button stands for the others
		}
		form.sent = true
	}
	if c.name != "" {
		form.Values.Add(c.name, c.value)
	}
}

func (r *formReader) done() []Form {
	for _, c := range r.later {
		if i := slices.IndexFunc(r.forms, func(f *Form) bool { return f.id == c.id }); i >= 0 {
			c.addTo(r.forms[i])
		}
	}
	var out []Form
	for _, f := range r.forms {
		if f.sent {
			out = append(out, *f)
		}
	}
	return out
}
