package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

const (
	projectArgument     = "PROJECT"
	versionArgument     = "VERSION"
	environmentArgument = "ENVIRONMENT"
)

// namesKey is the annotation of a command that has the names of its arguments.
const namesKey = "arguments"

// TakeArguments gives a command the arguments of an operation, by their names in capitals. Shells complete those of the
// operation's path, and help describes all that are members of the operation. The version and the environment after a
// project may be left out.
func TakeArguments(t terminal.Terminal, command *cobra.Command, op contract.Described, names ...string) {
	takeArguments(t, command, *op.Describe(), op.Members(), names)
}

func takeArguments(
	t terminal.Terminal, command *cobra.Command, op contract.Operation, members []contract.Member, names []string,
) {
	left := mayBeLeftOut(names)
	for _, name := range left {
		command.Use = strings.Replace(command.Use, " "+name, " ["+name+"]", 1)
	}
	if command.Annotations == nil {
		command.Annotations = map[string]string{}
	}
	command.Annotations[namesKey] = strings.Join(names, " ")
	command.Args = func(c *cobra.Command, args []string) error {
		if given := len(args) + len(left); given >= len(names) && len(args) < len(names) {
			return nil
		}
		return terminal.Exactly(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return len(args) < len(names) && slices.Contains(left, name)
		})...)(c, args)
	}
	command.ValidArgsFunction = completing(t, op, names)
	describeArguments(command, members, names)
}

// mayBeLeftOut returns those of a command's arguments that name the version and the environment of its project.
func mayBeLeftOut(names []string) []string {
	if len(names) == 0 || names[0] != projectArgument {
		return nil
	}
	var left []string
	for _, name := range names {
		if name == versionArgument || name == environmentArgument {
			left = append(left, name)
		}
	}
	return left
}

// argumentsKey is the key of a context that has the arguments of a command, with those that were left out.
type argumentsKey struct{}

// ArgumentsOf returns the arguments of a running command, with those that were left out.
func ArgumentsOf(c *cobra.Command) []string {
	if whole, ok := c.Context().Value(argumentsKey{}).([]string); ok {
		return whole
	}
	return c.Flags().Args()
}

// WholeArguments returns the arguments of a running command with the version and the environment of the project if they
// were left out. It returns an error that names the versions or environments if there are several.
func WholeArguments(t terminal.Terminal, c *cobra.Command, args []string) ([]string, error) {
	names := strings.Fields(c.Annotations[namesKey])
	if len(args) == len(names) || len(mayBeLeftOut(names)) == 0 {
		return args, nil
	}
	project, err := projectNamed(t, c, args[0])
	if err != nil {
		return nil, err
	}
	whole, err := filledIn(names, args, project)
	if err == nil {
		c.SetContext(context.WithValue(c.Context(), argumentsKey{}, whole))
	}
	return whole, err
}

func projectNamed(t terminal.Terminal, c *cobra.Command, name string) (contract.Project, error) {
	s, err := OpenSession(t, c)
	if err != nil {
		return contract.Project{}, err
	}
	return projectOf(c.Context(), s, name)
}

func projectOf(ctx context.Context, s Session, name string) (contract.Project, error) {
	return OnProject(ctx, s, name, func(ctx context.Context, api Caller) (contract.Project, error) {
		return client.Do(ctx, api.Client, contract.GetProject, contract.ProjectPath{Project: name})
	})
}

// filledIn adds the only version and the only environment of a project to arguments without them. A lone argument in
// the place of both is a version if the project has one of that name.
func filledIn(names, args []string, project contract.Project) ([]string, error) {
	missing := len(names) - len(args)
	var version, environment string
	rest := args[1:]
	both := slices.Contains(names, versionArgument) && slices.Contains(names, environmentArgument)
	if both && missing == 1 {
		named := func(v contract.Version) bool { return v.Name == args[1] || v.ID == args[1] }
		if slices.ContainsFunc(project.Versions, named) {
			version = args[1]
		} else {
			environment = args[1]
		}
		rest = args[2:]
	}
	out := []string{args[0]}
	for _, name := range names[1:] {
		var err error
		switch name {
		case versionArgument:
			version, err = onlyVersion(project, version)
			out = append(out, version)
		case environmentArgument:
			environment, err = onlyEnvironment(project, version, environment)
			out = append(out, environment)
		default:
			out, rest = append(out, rest[0]), rest[1:]
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// onlyVersion returns the version that is given, or the only one.
func onlyVersion(project contract.Project, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var names []string
	for _, v := range project.Versions {
		names = append(names, v.Name)
	}
	return only(versionArgument, project.Name, "versions", names)
}

// onlyEnvironment returns the environment that is given, or the only one of a version.
func onlyEnvironment(project contract.Project, version, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var names []string
	for _, v := range project.Versions {
		if v.Name != version && v.ID != version {
			continue
		}
		for _, e := range v.Environments {
			names = append(names, e.Name)
		}
	}
	return only(environmentArgument, project.Name+" "+version, "environments", names)
}

// only returns the only one of the names of what something has.
func only(argument, of, noun string, names []string) (string, error) {
	switch len(names) {
	case 0:
		return "", errors.New(of + " has no " + noun)
	case 1:
		return names[0], nil
	}
	return "", terminal.UsageError(fmt.Sprintf("%s is missing. %s has several %s: %s", argument, of, noun,
		strings.Join(names, ", ")))
}
