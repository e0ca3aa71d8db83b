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

// collectionNamed returns the path of the list that has items of a kind, such as project.
func collectionNamed(member string) string {
	for _, op := range contract.Operations() {
		if path := collectionOf(op.Describe().Path, member); path != "" {
			return path
		}
	}
	return ""
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
		name := names[len(args)]
		member := strings.ToLower(name)
		if strings.Contains(name, "FILE") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		choices, directive := offered(t, c, member, collectionOf(op.Path, member), given)
		if name == versionArgument && len(choices) == 1 && slices.Contains(names, environmentArgument) {
			given["version"] = choices[0] // which may be left out
			environments, _ := offered(t, c, "environment", collectionOf(op.Path, "environment"), given)
			choices = append(choices, environments...)
		}
		return beginning(choices, typed), directive
	}
}

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
	"copy_from":   {"version", "version"},
	"environment": {"environment", "environment"},
	"group":       {"group", "group"},
	"groups":      {"group", "name"},
	"key_type":    {"key_type", "key_type"},
	"owner":       {"key", "owner"},
	"product":     {"product", "product"},
	"project":     {"project", "project"},
	"team":        {"team", "team"},
	"tenant":      {"tenant", "tenant"},
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
		offer = offering(t, kind, names)
	}
	_ = c.RegisterFlagCompletionFunc(m.Flag, offer) // the flag exists
}

// CompleteNames has shells complete a flag that isn't derived from an operation. It is called as a member in
// flagsOfNames, and the command has its arguments already.
func CompleteNames(t terminal.Terminal, c *cobra.Command, flag string) {
	offer := offering(t, flagsOfNames[flag], strings.Fields(c.Annotations[namesKey]))
	_ = c.RegisterFlagCompletionFunc(flag, offer) // the flag exists
}

// offering returns the function that completes the value of a flag with names. names are those of the arguments.
func offering(t terminal.Terminal, kind kindOfName, names []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		given := map[string]string{}
		for i, arg := range args[:min(len(args), len(names))] {
			given[strings.ToLower(names[i])] = arg
		}
		choices, directive := offered(t, c, kind.as, collectionNamed(kind.member), given)
		return beginning(choices, typed), directive
	}
}

// offered returns the names that the lists at a path have for a member, each with what describes it.
func offered(
	t terminal.Terminal, c *cobra.Command, member, path string, given map[string]string,
) ([]string, cobra.ShellCompDirective) {
	s, err := OpenSession(t, c)
	if err != nil || path == "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
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
	for _, item := range slices.Concat(found...) {
		text := nameOf(member, item)
		if text == "" {
			continue
		}
		about := cmp.Or(item.Owner, item.Email, item.DisplayName, item.Name, item.Host, item.URL)
		if about != text && about != "" {
			text = cobra.CompletionWithDesc(text, terminal.Printable(about))
		}
		choices = append(choices, text)
	}
	slices.Sort(choices)
	return slices.Compact(choices), cobra.ShellCompDirectiveNoFileComp
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
		return listed(ctx, api, before+client.Segment(value)+after, given)
	}
	var all []client.Listed
	parents := listed(ctx, api, collectionOf(before+"{"+member+"}", member), given)
	for _, parent := range parents[:min(len(parents), maxParents)] {
		if id := cmp.Or(parent.ID, parent.Account); id != "" {
			all = append(all, listed(ctx, api, before+client.Segment(id)+after, given)...)
		}
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
