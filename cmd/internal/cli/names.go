package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

// recognized has what commands take in place of the ID of a thing that the API finds by its ID only, by kind, as
// contract.Member has it. An account isn't among them: people choose its address without a proof.
var recognized = map[string]string{
	"client": "name",
	"group":  "name",
	"team":   "name",
	"token":  "name",
	"user":   "email address",
}

// wholeID is an ID of package models, which isn't looked up.
var wholeID = regexp.MustCompile(`^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$`)

const (
	// maxSearched is how many lists, which are those of tenants, are searched for one name.
	maxSearched = 50
	// searchesAtOnce is how many of them are searched at the same time.
	searchesAtOnce = 8
	// maxSearchText is how long the text may be that a list is searched for, in characters.
	maxSearchText = 200
)

// errTooMany is the error of more lists than maxSearched.
var errTooMany = errors.New("too many lists")

// nameIn returns what people recognize an item of a list by.
func nameIn(kind string, item client.Listed) string {
	switch recognized[kind] {
	case "email address":
		return item.Email
	case "name":
		return item.Name
	}
	return ""
}

// plainWord is a name that shells complete without quotes, and that isn't a flag.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9@._+-]*$`)

// uniqueNames returns what people recognize the items of lists by, by ID, if it is a plain word that no other item has.
func uniqueNames(kind string, items []client.Listed) map[string]string {
	names, ids := map[string]string{}, map[string]string{}
	for _, item := range items {
		name, id := strings.ToLower(nameIn(kind, item)), nameOf(kind, item)
		if other, taken := ids[name]; taken && other != id {
			delete(names, other)
			continue
		}
		ids[name] = id
		if plainWord.MatchString(name) && !wholeID.MatchString(name) && isTrusted(kind, item) {
			names[id] = nameIn(kind, item)
		}
	}
	return names
}

// isTrusted reports whether what people recognize an item by is its own. People can sign in to some providers with the
// address of someone else. Only an address that a provider has verified stands for a user, or one that a team has
// given to a user who has never signed in.
func isTrusted(kind string, item client.Listed) bool {
	return kind != "user" || item.EmailVerified || item.LastLoginAt == nil && item.State != "active"
}

// kindsInPaths are the kinds of thing that members of paths have the IDs of, by member. They are those of the contract.
var kindsInPaths = sync.OnceValue(func() map[string]string {
	kinds := map[string]string{}
	for _, op := range contract.Operations() {
		for _, m := range op.Members() {
			if m.Place == contract.InPath && m.IDOf != "" {
				kinds[m.Name] = m.IDOf
			}
		}
	}
	return kinds
})

// withName adds to the description of a member what commands take in place of an ID of a kind, "" for none.
func withName(kind, text string) string {
	if kind == "" {
		return text
	}
	return strings.Replace(text, "ID", recognized[kind]+" or ID", 1)
}

// named is what an argument or a flag of a command names.
type named struct {
	kind   string // in recognized, "" for what the API finds by its name too
	except string // a value that isn't looked up
	part   string // of the path, "" for a flag
	shown  string // the argument or the flag
	given  string
	into   reflect.Value // a string of the request
}

// isName reports whether what was given is looked up.
func (n named) isName() bool {
	return n.kind != "" && n.given != "" && n.given != n.except && !wholeID.MatchString(n.given) &&
		utf8.ValidString(n.given) && !strings.ContainsRune(n.given, 0) &&
		utf8.RuneCountInString(n.given) <= maxSearchText
}

// namesIn returns what the path, the arguments and the flags of a request name, in the order of its members.
func namesIn(c *cobra.Command, members []contract.Member, arguments []string, request reflect.Value) (all []named) {
	for _, m := range members {
		one := named{kind: m.IDOf, except: m.IDExcept, into: request.FieldByIndex(m.Index)}
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

// withIDs returns arguments, whose names are those of the command, with the IDs that were found for them.
func withIDs(args, arguments []string, names []named) []string {
	args = slices.Clone(args)
	for _, one := range names {
		i := slices.Index(arguments, one.shown)
		if id := one.into.String(); i >= 0 && one.kind != "" && id != one.given {
			args[i] += " (" + id + ")"
		}
	}
	return args
}

// useIDs sets the IDs of what a request names. It asks with each credential that the command may run with, because a
// name that two of them find is ambiguous. A name that is not found stays, and then the server's error is about it.
func useIDs(t terminal.Terminal, c *cobra.Command, all []named) error {
	if !slices.ContainsFunc(all, named.isName) {
		return nil
	}
	s, err := OpenSession(t, c)
	if err != nil {
		return err
	}
	path := map[string]string{}
	var callers []Caller
	if i := slices.IndexFunc(all, func(n named) bool { return n.part == "project" }); i >= 0 {
		callers, err = s.callersOf(all[i].given)
	} else {
		callers, err = s.Callers()
	}
	if err != nil {
		return nil //nolint:nilerr // the command's own request has a better error
	}
	for _, one := range all {
		id := one.given
		if one.isName() {
			if id, err = one.find(c.Context(), callers, path); err != nil {
				return err
			}
		}
		one.into.SetString(id)
		if one.part != "" {
			path[one.part] = id
		}
	}
	return nil
}

// find returns the ID of what a command names, or what was given if that isn't its name. path has the values of the
// members of the request's path before it.
func (n named) find(ctx context.Context, callers []Caller, path map[string]string) (string, error) {
	var items []client.Listed
	var refused error // of all credentials
	tooMany, asked := false, false
	for _, one := range callers {
		found, err := n.findWith(ctx, one.Client, path)
		switch kind := fault.KindOf(err); {
		case err == nil, kind == fault.NotFound:
			asked = true
		case errors.Is(err, errTooMany):
			tooMany = true
		case kind == fault.Forbidden:
			refused = cmp.Or(refused, one.Explained(err))
		case kind != fault.Unauthenticated: // then the command's own request has the same error
			return "", one.Explained(err)
		}
		items = append(items, found...)
	}
	var ids, untrusted []string
	for _, item := range items {
		if isTrusted(n.kind, item) {
			ids = append(ids, nameOf(n.kind, item))
		} else {
			untrusted = append(untrusted, nameOf(n.kind, item))
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	switch {
	case tooMany:
		return "", terminal.UsageError(fmt.Sprintf("%s: Use an ID: you have more than %d tenants, which is too many "+
			"to search by %s.", n.shown, maxSearched, recognized[n.kind]))
	case len(ids) > 1:
		return "", terminal.UsageError(fmt.Sprintf("%s: there are several %s with the %s %q. Use one of these IDs: %s",
			n.shown, english.PluralWord(2, nounOf(n.kind), ""), recognized[n.kind], n.given,
			strings.Join(ids, ", ")))
	case len(ids) == 1:
		return ids[0], nil
	case len(untrusted) > 0:
		return "", terminal.UsageError(fmt.Sprintf("%s: no provider has verified that %s is this user's address. To "+
			"select the user anyway, use the ID: %s", n.shown, n.given, strings.Join(untrusted, " or ")))
	case !asked && refused != nil:
		return "", refused
	}
	return n.given, nil
}

// findWith returns the items that one credential finds under a name.
func (n named) findWith(ctx context.Context, api *client.Client, path map[string]string) ([]client.Listed, error) {
	at, given := collectionNamed(n.kind), maps.Clone(path)
	if n.kind == "user" && path["project"] != "" {
		at = contract.ListProjectUsers.Path
	}
	if strings.Contains(at, "{tenant}") && given["tenant"] == "" {
		tenant, err := tenantOf(ctx, api, path)
		if err != nil {
			return nil, err
		}
		given["tenant"] = tenant
	}
	items, err := search(ctx, api, at, n.given, given)
	return slices.DeleteFunc(items, func(item client.Listed) bool {
		name := nameIn(n.kind, item)
		return nameOf(n.kind, item) == "" || name != n.given &&
			(recognized[n.kind] != "email address" || !strings.EqualFold(name, n.given))
	}), err
}

// tenantOf returns the tenant of the group or the user in a path, "" without one.
func tenantOf(ctx context.Context, api *client.Client, path map[string]string) (string, error) {
	if id := path["group"]; id != "" {
		group, err := client.Do(ctx, api, contract.GetGroup, contract.GroupPath{Group: id})
		return group.Tenant, err
	}
	if id := path["user"]; id != "" {
		user, err := client.Do(ctx, api, contract.GetUser, contract.UserPath{User: id})
		return user.Tenant, err
	}
	return "", nil
}

// search returns the items that the server finds for a text in the lists at a path of the API. For a member of the path
// that is not given, it searches a list for each value that the member can have.
func search(
	ctx context.Context, api *client.Client, path, text string, given map[string]string,
) ([]client.Listed, error) {
	before, rest, open := strings.Cut(path, "{")
	if !open {
		return Collect(client.Search(ctx, api, path, text))
	}
	member, after, _ := strings.Cut(rest, "}")
	if value := given[member]; value != "" {
		return search(ctx, api, before+client.Segment(value)+after, text, given)
	}
	parents, err := search(ctx, api, collectionOf(before+"{"+member+"}", member), "", given)
	if err == nil && len(parents) > maxSearched {
		err = errTooMany
	}
	if err != nil {
		return nil, err
	}
	found, failed := make([][]client.Listed, len(parents)), make([]error, len(parents))
	var all sync.WaitGroup
	slots := make(chan struct{}, searchesAtOnce)
	for i, parent := range parents {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			found[i], failed[i] = search(ctx, api, before+client.Segment(parent.ID)+after, text, given)
		})
	}
	all.Wait()
	for _, err := range failed {
		if err != nil && fault.KindOf(err) != fault.NotFound { // of a tenant that was just deleted
			return nil, err
		}
	}
	return slices.Concat(found...), nil
}
