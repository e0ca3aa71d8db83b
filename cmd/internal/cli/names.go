package cli

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

// recognizedBy has what commands take in place of the ID of a thing that the API finds by its ID only, by the member of
// a path that has the ID.
var recognizedBy = map[string]string{
	"account":    "email address",
	"child":      "name",
	"client":     "name",
	"group":      "name",
	"invitation": "email address",
	"team":       "name",
	"token":      "name",
	"user":       "email address",
	"webhook":    "URL",
}

// wholeID is an ID of package models, which isn't looked up.
var wholeID = regexp.MustCompile(`^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$`)

// maxSearched is how many lists, which are those of tenants, are searched for one name.
const maxSearched = 50

// errTooMany is the error of more lists than maxSearched.
var errTooMany = errors.New("too many lists")

// recognizable returns what people recognize an item of a list by.
func recognizable(kind string, item client.Listed) string {
	switch recognizedBy[kind] {
	case "email address":
		return strings.ToLower(item.Email)
	case "URL":
		return item.URL
	case "name":
		return item.Name
	}
	return ""
}

// recognizes reports whether people recognize an item of a list by a text. Email addresses ignore case.
func recognizes(kind string, item client.Listed, text string) bool {
	if recognizedBy[kind] == "email address" {
		return strings.EqualFold(item.Email, text)
	}
	return recognizable(kind, item) == text
}

// plainWord is a name that shells complete without quotes, and that isn't a flag.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9@._+-]*$`)

// uniqueNames returns what people recognize the items of lists by, by ID, if it is a plain word that no other item has.
func uniqueNames(kind string, items []client.Listed) map[string]string {
	names, ids := map[string]string{}, map[string]string{}
	for _, item := range items {
		name, id := recognizable(kind, item), nameOf(kind, item)
		if other, taken := ids[name]; taken && other != id {
			delete(names, other)
			continue
		}
		ids[name] = id
		if plainWord.MatchString(name) {
			names[id] = name
		}
	}
	return names
}

// byIDOnly matches the description of a member that has an ID and nothing else that could be a name, such as that of an
// app that owns keys.
var byIDOnly = regexp.MustCompile(`^(ID of (?:an?|the) [a-zA-Z ]+(?:$|\.|, or of )|Only [a-z ]+ with this ID$)`)

// kindOf returns the kind of thing whose ID a member of a request has, as the member of a path: "" if commands take
// nothing in place of the ID.
func kindOf(m contract.Member) string {
	kind := m.Name
	if m.Place != contract.InPath {
		kind = flagsOfNames[m.Name].member
	}
	if recognizedBy[kind] == "" || m.Within != "" || m.Elem().Kind() != reflect.String || !byIDOnly.MatchString(m.Doc) {
		return ""
	}
	return kind
}

// withName adds to the description of a member what commands take in place of an ID of a kind, "" for none.
func withName(kind, text string) string {
	if kind == "" {
		return text
	}
	return strings.Replace(text, "ID", recognizedBy[kind]+" or ID", 1)
}

// named is what an argument or a flag of a command names.
type named struct {
	kind  string // as recognizedBy has it, "" for what the API finds by its name too
	part  string // of the path, "" for a flag
	shown string // the argument or the flag
	given string
	into  reflect.Value // a string of the request
}

// namesIn returns what the path, the arguments and the flags of a request name, in the order of its members.
func namesIn(c *cobra.Command, members []contract.Member, arguments []string, request reflect.Value) (all []named) {
	for _, m := range members {
		one := named{kind: kindOf(m), into: request.FieldByIndex(m.Index)}
		switch {
		case m.Place == contract.InPath:
			one.part, one.shown = m.Name, m.Argument()
		case one.kind != "" && slices.Contains(arguments, m.Argument()):
			one.shown = m.Argument()
		case one.kind != "" && m.Flag != "" && c.Flags().Changed(m.Flag):
			one.shown = "--" + m.Flag
		default:
			continue
		}
		if one.into.Kind() == reflect.Pointer {
			one.into = one.into.Elem()
		}
		one.given = one.into.String()
		all = append(all, one)
	}
	return all
}

// useIDs sets the IDs of what a request names. A name that is not found stays, and then the server's error is about it.
func useIDs(ctx context.Context, api *client.Client, all []named) error {
	path := map[string]string{}
	for _, one := range all {
		id, err := idOf(ctx, api, one, path)
		if err != nil {
			return err
		}
		one.into.SetString(id)
		if one.part != "" {
			path[one.part] = id
		}
	}
	return nil
}

// idOf returns the ID of what a command names, or what was given if that isn't its name. path has the values of the
// members of paths that are known.
func idOf(ctx context.Context, api *client.Client, one named, path map[string]string) (string, error) {
	if one.kind == "" || one.given == "" || one.given == contract.Installation || wholeID.MatchString(one.given) {
		return one.given, nil
	}
	var ids []string
	err := search(ctx, api, collectionNamed(one.kind), one.given, path, func(item client.Listed) {
		if id := nameOf(one.kind, item); id != "" && recognizes(one.kind, item, one.given) {
			ids = append(ids, id)
		}
	})
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Forbidden, fault.Unauthenticated: // the command's own request has a better error
		return one.given, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	switch {
	case errors.Is(err, errTooMany):
		return "", terminal.UsageError(fmt.Sprintf("%s must be an ID, because you have more than %d tenants that it "+
			"could be in", one.shown, maxSearched))
	case err != nil:
		return "", err
	case len(ids) == 0:
		return one.given, nil
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", terminal.UsageError(fmt.Sprintf("%s: there are several %s with the %s %q. Use one of these IDs: %s",
		one.shown, english.PluralWord(2, nounOf(one.kind), ""), recognizedBy[one.kind], one.given,
		strings.Join(ids, ", ")))
}

// search calls found for the items that the server finds for a text in the lists at a path of the API. For a member of
// the path that is not given, it searches a list for each value that the member can have.
func search(
	ctx context.Context, api *client.Client, path, text string, given map[string]string, found func(client.Listed),
) error {
	before, rest, open := strings.Cut(path, "{")
	if !open {
		for item, err := range client.Search(ctx, api, path, text) {
			if err != nil {
				return err
			}
			found(item)
		}
		return nil
	}
	member, after, _ := strings.Cut(rest, "}")
	if value := given[member]; value != "" {
		return search(ctx, api, before+client.Segment(value)+after, text, given, found)
	}
	var parents []string
	err := search(ctx, api, collectionOf(before+"{"+member+"}", member), "", given, func(item client.Listed) {
		parents = append(parents, item.ID)
	})
	if err == nil && len(parents) > maxSearched {
		err = errTooMany
	}
	for _, id := range parents {
		if err == nil {
			err = search(ctx, api, before+client.Segment(id)+after, text, given, found)
		}
	}
	return err
}
