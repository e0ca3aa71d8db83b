package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

func addVersionFlag(c *cobra.Command, version *string) {
	c.Flags().StringVar(version, "version", "", "version of the project, where it has several")
}

// findVersion returns the version by name or id, or without a name the project's only one.
func findVersion(ctx context.Context, api caller, project, name string) (contract.Version, error) {
	p, err := client.Do(ctx, api.Client, contract.GetProject, contract.ProjectPath{Project: project})
	if err != nil {
		return contract.Version{}, err
	}
	var names []string
	for _, v := range p.Versions {
		if v.Name == name || v.ID == name || (name == "" && len(p.Versions) == 1) {
			return v, nil
		}
		names = append(names, v.Name)
	}
	if name == "" {
		return contract.Version{}, usageError{
			fmt.Sprintf("%s has several versions: name one of %s with --version", project, strings.Join(names, ", ")),
		}
	}
	return contract.Version{}, fault.New(
		fault.NotFound, "no_version", "%s has no version %q; it has %s", project, name,
		strings.Join(names, ", "),
	)
}

// environmentNamed finds an environment of a version by name or id.
func environmentNamed(
	ctx context.Context, api caller, project, version, environment string,
) (contract.Environment, error) {
	v, err := findVersion(ctx, api, project, version)
	if err != nil {
		return contract.Environment{}, err
	}
	for _, e := range v.Environments {
		if e.Name == environment || e.ID == environment {
			return e, nil
		}
	}
	return contract.Environment{}, fault.New(
		fault.NotFound, "no_environment", "version %s has no environment %q; it has %s", v.Name, environment,
		environmentNames(v),
	)
}
