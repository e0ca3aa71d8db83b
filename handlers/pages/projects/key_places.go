package projects

import (
	"fmt"
	"net/url"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/views/projects"
	"postern/views/ui"
)

const (
	keyPlacesPointer = "/requests_auth/api_key/in"
	doAddPlace       = "add-place"
	doRemovePlace    = "remove-place"
)

// keyPlaceForm is a row of the places of keys, as typed.
type keyPlaceForm struct {
	kind, name, prefix string
	optional, added    bool
}

func (f keyPlaceForm) isEmpty() bool {
	return f.kind != contract.PlaceWebSocket && f.name == "" && f.prefix == ""
}

// postedKeyPlaces reads the rows of a form. Each has every field.
func postedKeyPlaces(form url.Values) (out []keyPlaceForm) {
	field := func(name string, i int) string {
		if list := form[name]; i < len(list) {
			return strings.TrimSpace(list[i])
		}
		return ""
	}
	for i := range min(len(form["key_in"]), contract.MostKeyPlaces+1) {
		out = append(out, keyPlaceForm{
			kind:     field("key_in", i),
			name:     field("key_in_name", i),
			prefix:   field("key_in_prefix", i),
			optional: field("key_in_prefix_use", i) == "optional",
		})
	}
	return out
}

func keyPlacesAsForm(saved contract.APIKeyAuth) (out []keyPlaceForm) {
	for _, place := range saved.Places() {
		out = append(out, keyPlaceForm{
			kind: place.Kind(), name: place.Name(), prefix: place.Prefix, optional: place.PrefixOptional,
		})
	}
	return out
}

// keptPlaces returns the places of rows that aren't empty. A form without any sets the default.
func keptPlaces(rows []keyPlaceForm) contract.APIKeyAuth {
	out := contract.APIKeyAuth{In: []contract.KeyPlace{}}
	for _, row := range rows {
		if !row.isEmpty() {
			out.In = append(out.In, row.place())
		}
	}
	if len(out.In) == 0 {
		out.In = contract.APIKeyAuth{}.Places()
	}
	return out
}

// place leaves out what the form hides: only headers have a prefix, and a protocol has no name.
func (f keyPlaceForm) place() contract.KeyPlace {
	switch f.kind {
	case contract.PlaceQuery:
		return contract.KeyPlace{Query: f.name}
	case contract.PlaceCookie:
		return contract.KeyPlace{Cookie: f.name}
	case contract.PlaceWebSocket:
		return contract.KeyPlace{WebSocketProtocol: true}
	}
	return contract.KeyPlace{Header: f.name, Prefix: f.prefix, PrefixOptional: f.optional && f.prefix != ""}
}

// keyPlaceRows shows rows with their mistakes, whose pointers count the kept rows only.
func keyPlaceRows(version string, rows []keyPlaceForm, wrong *page.Errors) (out []projects.KeyPlaceRow) {
	saved := 0
	for i, row := range rows {
		shown := projects.KeyPlaceRow{
			N:        i,
			ID:       fmt.Sprintf("%s-key-in-%d", version, i),
			Kind:     row.kind,
			Name:     ui.Value{Text: row.name},
			Prefix:   ui.Value{Text: row.prefix},
			Optional: row.optional,
			New:      row.added,
		}
		if !row.isEmpty() {
			at := fmt.Sprintf("%s/%d", keyPlacesPointer, saved)
			for _, member := range []string{"/header", "/query", "/cookie"} {
				if text := wrong.Take(at + member); text != "" {
					shown.Name.Error = text
				}
			}
			shown.Prefix.Error = wrong.Take(at + "/prefix")
			if text := wrong.Take(at + "/prefix_optional"); text != "" {
				shown.Prefix.Error = text
			}
			shown.Error = wrong.Take(at)
			saved++
		}
		out = append(out, shown)
	}
	return out
}

// keyPlaceLines formats places where two states of a form are compared.
func keyPlaceLines(a contract.APIKeyAuth) string {
	var lines []string
	for _, place := range a.Places() {
		lines = append(lines, place.String())
	}
	return strings.Join(lines, "\n")
}

// keyPlacePairs are the hidden fields that post the rows again.
func keyPlacePairs(a contract.APIKeyAuth) (out []projects.Pair) {
	for _, row := range keyPlacesAsForm(a) {
		use := "required"
		if row.optional {
			use = "optional"
		}
		out = append(out,
			projects.Pair{Name: "key_in", Value: row.kind},
			projects.Pair{Name: "key_in_name", Value: row.name},
			projects.Pair{Name: "key_in_prefix", Value: row.prefix},
			projects.Pair{Name: "key_in_prefix_use", Value: use},
		)
	}
	return out
}
