package cli

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// Shells wait for completions, so that these are given up after a moment, and never are an error.
const (
	completesWithin = 2 * time.Second
	maxParents      = 10 // lists that are read for one completion
)

// collections are the paths of the lists of the API, with the members of the path in braces.
var collections = sync.OnceValue(func() []string {
	var paths []string
	for _, op := range contract.Operations() {
		_, out := op.Types()
		if out.Kind() != reflect.Struct || op.Describe().Method != http.MethodGet {
			continue
		}
		if _, isList := out.FieldByName("NextCursor"); isList {
			paths = append(paths, op.Describe().Path)
		}
	}
	return paths
})

// collectionOf returns the path of the list that a member of an operation's path is chosen from, "" for none.
func collectionOf(path, member string) string {
	above, _, found := strings.Cut(path, "/{"+member+"}")
	if !found && member == "owner" && slices.Contains(collections(), path) { // in the query, for its slashes
		return path
	}
	if !found {
		return ""
	}
	if slices.Contains(collections(), above) {
		return above
	}
	noun := above[strings.LastIndex(above, "/"):]
	for _, one := range collections() { // such as those of keys, which are listed by project
		if strings.HasSuffix(one, noun) {
			return one
		}
	}
	if member == "child" { // of a group
		return collectionNamed("group")
	}
	return ""
}

// collectionNamed returns the path of the list that has items of a kind, such as project: the one with the noun's name
// if there are several, because users are also listed as members of a group.
func collectionNamed(member string) (found string) {
	for _, op := range contract.Operations() {
		path := collectionOf(op.Describe().Path, member)
		if strings.HasSuffix(path, "/"+strings.ReplaceAll(member, "_", "-")+"s") {
			return path
		}
		found = cmp.Or(found, path)
	}
	return found
}

// completing returns the function that completes the arguments of an operation.
func completing(t terminal.Terminal, op contract.Operation, names []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(names) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		given := map[string]string{}
		for i, arg := range args {
			given[strings.ToLower(names[i])] = arg
		}
		if strings.Contains(names[len(args)], "FILE") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return beginning(choicesOf(t, c, op, names[len(args):], given), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// choicesOf returns the choices for the first of the arguments that are still missing, and those for the next one if
// the first is an only version or environment, which may be left out.
func choicesOf(
	t terminal.Terminal, c *cobra.Command, op contract.Operation, missing []string, given map[string]string,
) []string {
	name := missing[0]
	switch name {
	case "METHOD", "METHODS":
		return httpMethods
	case "RULE":
		return offered(t, c, "rule", "", contract.GetRules.Path, given)
	}
	member := strings.ToLower(name)
	choices := offered(t, c, member, kindsInPaths()[member], collectionOf(op.Path, member), given)
	if (name == versionArgument || name == environmentArgument) && len(choices) == 1 && len(missing) > 1 {
		given[member], _, _ = strings.Cut(choices[0], "\t") // without what describes it
		choices = append(choices, choicesOf(t, c, op, missing[1:], given)...)
	}
	return choices
}

// httpMethods are the methods that commands and flags offer.
var httpMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete, http.MethodOptions}

// beginning returns the choices that begin with a text: shells leave out the others, such as the IDs of an owner's keys
// after the owner's name.
func beginning(choices []string, typed string) []string {
	return slices.DeleteFunc(choices, func(choice string) bool { return !strings.HasPrefix(choice, typed) })
}

// kindOfName says where the names are that the value of a flag is chosen from: in the list of what the member of a path
// names, of whose items the value is the name as another member.
type kindOfName struct{ member, as string }

// flagsOfNames are the flags that name something, by member.
var flagsOfNames = map[string]kindOfName{
	"app_client":  {"client", "client"},
	"copy_from":   {"version", "version"},
	"environment": {"environment", "environment"},
	"group":       {"group", "group"},
	"groups":      {"group", "name"},
	"key":         {"key", "key"},
	"key_type":    {"key_type", "key_type"},
	"owner":       {"key", "owner"},
	"product":     {"product", "product"},
	"project":     {"project", "project"},
	"team":        {"team", "team"},
	"tenant":      {"tenant", "tenant"},
	"user":        {"user", "user"},
	"version":     {"version", "version"},
}

// completeFlag completes the value of a flag: one of a few texts, or the name of something that the server has.
func completeFlag(t terminal.Terminal, c *cobra.Command, m contract.Member, names []string) {
	offer := cobra.FixedCompletions(m.Enum, cobra.ShellCompDirectiveNoFileComp)
	if len(m.Enum) == 0 {
		kind, named := flagsOfNames[m.Name]
		if !named || m.Within != "" {
			return
		}
		offer = offering(t, kind, m.IDOf, names)
	}
	_ = c.RegisterFlagCompletionFunc(m.Flag, offer) // the flag exists
}

// CompleteNames has shells complete a flag that isn't derived from an operation. It is called as a member in
// flagsOfNames, and the command has its arguments already.
func CompleteNames(t terminal.Terminal, c *cobra.Command, flag string) {
	offer := offering(t, flagsOfNames[flag], kindsInPaths()[flag], strings.Fields(c.Annotations[namesKey]))
	_ = c.RegisterFlagCompletionFunc(flag, offer) // the flag exists
}

// offering returns the function that completes the value of a flag with names. byName is the kind of thing if the flag
// takes what it is recognized by instead of its ID. names are those of the arguments.
func offering(t terminal.Terminal, kind kindOfName, byName string, names []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		given := map[string]string{}
		for i, arg := range args[:min(len(args), len(names))] {
			given[strings.ToLower(names[i])] = arg
		}
		choices := offered(t, c, kind.as, byName, collectionNamed(kind.member), given)
		return beginning(choices, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// offered returns the names that the lists at a path have for a member, each with what describes it. byName is the kind
// of thing if a command takes what people recognize it by instead of its ID.
func offered(
	t terminal.Terminal, c *cobra.Command, member, byName, path string, given map[string]string,
) []string {
	s, err := OpenSession(t, c)
	if err != nil || path == "" {
		return nil
	}
	var callers []Caller
	if project := given["project"]; project != "" {
		callers, _ = s.callersOf(project)
	} else {
		callers, _ = s.Callers()
	}
	ctx, cancel := context.WithTimeout(c.Context(), completesWithin)
	defer cancel()
	found := make([][]client.Listed, len(callers))
	var all sync.WaitGroup
	for i, one := range callers[:min(len(callers), maxParents)] {
		all.Go(func() { found[i] = listed(ctx, one.Client, path, given) })
	}
	all.Wait()
	var choices []string
	items := slices.Concat(found...)
	names := uniqueNames(byName, items)
	for _, item := range items {
		text := nameOf(member, item)
		if text == "" {
			continue
		}
		text = cmp.Or(names[text], text)
		if about := describing(item); about != text && about != "" {
			text = cobra.CompletionWithDesc(text, terminal.Printable(about))
		}
		choices = append(choices, text)
	}
	slices.Sort(choices)
	return slices.Compact(choices)
}

// describing returns what people recognize an item by, next to its name or ID.
func describing(item client.Listed) string {
	switch {
	case item.Format != "": // of an export
		return strings.Join(append(slices.Clone(item.Projects), item.Format, terminal.When(item.CreatedAt)), ", ")
	case item.Path != "" && item.Host == "": // of a rule
		return strings.Join(item.Methods, ",") + " " + item.Path
	}
	about := cmp.Or(item.Owner, item.Email, item.DisplayName, item.Name, item.Host, item.URL)
	if item.Owner == "" && item.Project != nil && len(item.Projects) > 0 { // a project's own tenant, always default
		about += " (" + strings.Join(item.Projects, ", ") + ")"
	}
	return about
}

// listed returns the items of the lists at a path. For a member of the path that is not given, it reads a list for each
// value that the member can have.
func listed(ctx context.Context, api *client.Client, path string, given map[string]string) []client.Listed {
	before, rest, open := strings.Cut(path, "{")
	if !open {
		items, _ := client.ListAt(ctx, api, path)
		return items
	}
	member, after, _ := strings.Cut(rest, "}")
	if value := given[member]; value != "" {
		if one := (named{kind: kindsInPaths()[member], given: value}); one.isName() {
			var err error
			value, err = one.find(ctx, []Caller{{Client: api}}, map[string]string{"tenant": given["tenant"]})
			if err != nil {
				return nil
			}
		}
		return listed(ctx, api, before+client.Segment(value)+after, given)
	}
	var all []client.Listed
	parents := listed(ctx, api, collectionOf(before+"{"+member+"}", member), given)
	for _, parent := range parents[:min(len(parents), maxParents)] {
		id := cmp.Or(parent.ID, parent.Account)
		if id == "" {
			continue
		}
		items := listed(ctx, api, before+client.Segment(id)+after, given)
		for i := range items {
			if member == "project" && items[i].Projects == nil {
				items[i].Projects = []string{parent.Name}
			}
		}
		all = append(all, items...)
	}
	return all
}

// nameOf returns how commands name an item as a member of a path or as the value of a flag.
func nameOf(member string, item client.Listed) string {
	switch member {
	case "project", "version", "environment", "product", "key_type", "name":
		return item.Name
	case "tenant":
		if item.Project != nil { // a project's own tenant has no name for the API
			return item.ID
		}
		return item.Name
	case "domain":
		return item.Host
	case "owner":
		return item.Owner
	case "account":
		return item.Account
	}
	return cmp.Or(item.ID, item.User)
}
