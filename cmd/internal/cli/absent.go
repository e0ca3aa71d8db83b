package cli

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

// reference is an argument or a flag of a command that names something on the server.
type reference struct {
	noun, name string
	flag       string // with dashes, "" for an argument
	path       string // of what it names, if the API can be asked for it
}

// String returns such as: the tenant "acme".
func (r reference) String() string { return fmt.Sprintf("the %s %q", r.noun, r.name) }

// isAbsent completes the error about something that a server didn't find. A server doesn't say whether it exists.
const isAbsent = " doesn't exist, or you don't have access to it"

// ownTenant is the name of every project's own tenant, which no command takes.
const ownTenant = "default"

// nounOf is a member of a request in words, such as app client.
func nounOf(member string) string {
	switch member {
	case "client":
		return "app client"
	case "child":
		return "group"
	}
	return strings.ReplaceAll(member, "_", " ")
}

// referencesOf returns what the path of a request and the flags of its command name, in the order of the path. request
// is the value that arguments and flags were set in.
func referencesOf(
	c *cobra.Command, op contract.Operation, members []contract.Member, request reflect.Value,
) (all []reference) {
	readable := readablePaths()
	before, rest, found := strings.Cut(op.Path, "{")
	for template := before; found; {
		name, after, _ := strings.Cut(rest, "}")
		i := slices.IndexFunc(members, func(m contract.Member) bool {
			return m.Place == contract.InPath && m.Name == name
		})
		if i < 0 {
			return nil
		}
		value := request.FieldByIndex(members[i].Index).String()
		one := reference{noun: nounOf(name), name: value}
		before, template = before+client.Segment(value), template+"{"+name+"}"
		itself := op.Method == http.MethodGet && template == op.Path
		if !itself && slices.Contains(readable, template) {
			one.path = before
		}
		all = append(all, one)
		var between string
		between, rest, found = strings.Cut(after, "{")
		before, template = before+between, template+between
	}
	for _, m := range members {
		if kind, names := flagsOfNames[m.Name]; names && m.Flag != "" && m.Within == "" && c.Flags().Changed(m.Flag) {
			if name := textOf(request.FieldByIndex(m.Index)); name != "" {
				all = append(all, reference{noun: nounOf(kind.as), name: name, flag: "--" + m.Flag})
			}
		}
	}
	return all
}

// asGiven returns references with the names that were given in place of the IDs that were found for them.
func asGiven(all []reference, names []named) []reference {
	for i, one := range all {
		at := slices.IndexFunc(names, func(n named) bool { return n.kind != "" && n.into.String() == one.name })
		if at >= 0 {
			all[i].name = names[at].given
		}
	}
	return all
}

// textOf returns the text of a member, "" for one that isn't a text.
func textOf(value reflect.Value) string {
	if value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if value.Kind() == reflect.String {
		return value.String()
	}
	return ""
}

// readablePaths are the paths of the operations that read something, with the members in braces.
func readablePaths() (paths []string) {
	for _, op := range contract.Operations() {
		if about := op.Describe(); about.Method == http.MethodGet {
			paths = append(paths, about.Path)
		}
	}
	return paths
}

// isUnnamed reports whether an error is the server's answer that something wasn't found. The answer doesn't say what.
func isUnnamed(err error) bool {
	known, ok := errors.AsType[*fault.Error](err)
	return ok && known.Code == "not_found" && known.Unwrap() == nil // errors of this package have a cause
}

// nameAbsent returns an error that names what a server didn't find, for an error of the server that doesn't. It reads
// what it can at the paths of the references to find out. Other errors it returns unchanged.
func nameAbsent(err error, all []reference, read func(path string) error) error {
	if !isUnnamed(err) {
		return err
	}
	var maybe []reference
	for _, one := range all {
		if one.path != "" && fault.KindOf(read(one.path)) != fault.NotFound {
			continue
		}
		if maybe = append(maybe, one); one.path != "" { // what comes after it is within it
			break
		}
	}
	var names []string
	for _, one := range maybe {
		names = append(names, one.String())
	}
	if len(names) == 0 {
		return err
	}
	text := english.WordSeries(names, "or") + isAbsent
	if len(maybe) == 1 && maybe[0].flag != "" {
		text = maybe[0].flag + ": " + text
	}
	if slices.ContainsFunc(maybe, func(r reference) bool { return r.noun == "tenant" && r.name == ownTenant }) {
		text += ". Each project has a tenant named " + ownTenant + ": use the ID that `postern tenants list` shows"
	}
	return fault.New(fault.NotFound, "not_found", "%s", text).Because(err)
}

// checkFilters returns an error if a flag that filters the empty list of a project names something that the project
// doesn't have. A list with items needs no check: keys of a deleted environment can still be listed.
func checkFilters(c *cobra.Command, api *client.Client, all []reference) error {
	var project *contract.Project
	for _, one := range all {
		switch {
		case one.noun == "project" && one.flag == "":
			found, err := client.Do(c.Context(), api, contract.GetProject, contract.ProjectPath{Project: one.name})
			if err != nil {
				return err
			}
			project = &found
		case one.noun == "group":
			_, err := client.Do(c.Context(), api, contract.GetGroup, contract.GroupPath{Group: one.name})
			if err != nil {
				return nameAbsent(err, []reference{one}, nil)
			}
		case project != nil && !has(*project, one):
			return fault.New(fault.NotFound, "absent", "%s: This project has no %s %q.", one.flag, one.noun, one.name)
		}
	}
	return nil
}

// has reports whether a project has what a flag names, and true for what a project doesn't list.
func has(project contract.Project, one reference) bool {
	switch one.noun {
	case "tenant":
		return slices.Contains(project.Tenants, one.name)
	case "key type":
		return slices.ContainsFunc(project.KeyTypes, func(k contract.KeyType) bool { return k.Name == one.name })
	case "environment":
		return slices.ContainsFunc(project.Versions, func(v contract.Version) bool {
			return slices.ContainsFunc(v.Environments, func(e contract.Environment) bool {
				return e.Name == one.name || e.ID == one.name
			})
		})
	}
	return true
}
