package projects

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Bounds on the transforms of a version.
const (
	maxHeaderChanges  = 50 // entries of an operation
	maxChangedHeader  = 100
	maxTransformValue = 1000 // bytes
)

// Transforms are the changes to the headers of a version's requests and responses.
type Transforms struct {
	snapshot.Transforms

	Version string // name
	ETag    string
}

func viewTransforms(v models.Version) Transforms {
	out := Transforms{Transforms: compileTransforms(v.Transforms), Version: v.Name}
	out.ETag = digest(out.Transforms)
	return out
}

func compileTransforms(row models.Transforms) snapshot.Transforms {
	return snapshot.Transforms{
		Request:  snapshot.Changes(row.Request),
		Query:    snapshot.Changes(row.Query),
		Response: snapshot.Changes(row.Response),
	}
}

// TransformRows returns the row of transforms.
func TransformRows(of snapshot.Transforms) models.Transforms {
	return models.Transforms{
		Request:  models.Changes(of.Request),
		Query:    models.Changes(of.Query),
		Response: models.Changes(of.Response),
	}
}

// Transforms returns the changes to the headers of a version's requests and responses.
func (s *Service) Transforms(ctx context.Context, p access.Principal, ref, versionRef string) (Transforms, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return Transforms{}, fmt.Errorf("projects: transforms of %s: %w", ref, err)
	}
	version, err := versionOf(tx, project, versionRef)
	if err != nil {
		return Transforms{}, fmt.Errorf("projects: transforms of version %s of %s: %w", versionRef, ref, err)
	}
	return viewTransforms(version), nil
}

// SetTransforms replaces the transforms of a version, from the next call on. With ifMatch not empty it
// is refused as stale unless that is still the ETag.
func (s *Service) SetTransforms(
	ctx context.Context, p access.Principal, ref, versionRef, ifMatch string, in snapshot.Transforms,
) (Transforms, error) {
	var out Transforms
	says := &note{change: "set"}
	err := s.changeNoted(ctx, p, ref, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, versionRef)
		if err != nil {
			return err
		}
		says.object = "transforms of version " + version.Name
		if err := access.Unchanged(ifMatch, viewTransforms(version).ETag); err != nil {
			return err
		}
		wrong := CheckTransforms("", &in)
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		seen := version.UpdatedAt
		version.Transforms, version.UpdatedAt = TransformRows(in), now
		out = viewTransforms(version)
		return written(tx.UpdateVersionTransforms(version, seen))
	})
	return out, err
}

// CheckTransforms returns what is wrong with transforms, below a pointer. It removes the spaces around
// headers and values.
func CheckTransforms(prefix string, in *snapshot.Transforms) []fault.Field {
	header := func(fixed func(string) bool) checkEntry {
		return func(operation, name, value string) (code, detail string) {
			return wrongChange(operation, name, value, fixed)
		}
	}
	return slices.Concat(
		checkChanges(prefix+"/request/%s/headers", &in.Request, strings.ToLower, header(policy.FixedRequestHeader)),
		checkChanges(prefix+"/request/%s/query", &in.Query, strings.Clone, wrongArgument),
		checkChanges(prefix+"/response/%s/headers", &in.Response, strings.ToLower, header(policy.FixedResponseHeader)),
	)
}

// checkEntry returns what is wrong with an entry of an operation, "" for nothing.
type checkEntry func(operation, name, value string) (code, detail string)

// checkChanges returns what is wrong with changes. at is the pointer of an operation's list; names are
// the same if what same returns for them is.
func checkChanges(at string, in *snapshot.Changes, same func(string) string, check checkEntry) (wrong []fault.Field) {
	for _, operation := range []struct {
		name string
		list []string
	}{
		{"remove", in.Remove}, {"rename", in.Rename}, {"replace", in.Replace}, {"add", in.Add}, {"append", in.Append},
	} {
		at := fmt.Sprintf(at, operation.name)
		if len(operation.list) > maxHeaderChanges {
			wrong = append(wrong, fault.Field{Pointer: at, Code: "too_many",
				Detail: fmt.Sprintf("Use at most %d entries in an operation.", maxHeaderChanges)})
			continue
		}
		seen := map[string]bool{}
		for i, entry := range operation.list {
			name, value := policy.SplitChange(entry)
			code, detail := check(operation.name, name, value)
			if code == "" && seen[same(name)] && operation.name != "append" {
				code, detail = "duplicate", "This name stands twice in the operation."
			}
			seen[same(name)] = true
			if code != "" {
				wrong = append(wrong, fault.Field{Pointer: fmt.Sprintf("%s/%d", at, i), Code: code, Detail: detail})
			}
			operation.list[i] = name
			if value != "" {
				operation.list[i] += ":" + value
			}
		}
	}
	return wrong
}

var changedHeader = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// wrongChange returns what is wrong with an entry of an operation, "" for nothing.
func wrongChange(operation, name, value string, fixed func(string) bool) (code, detail string) {
	code, detail = wrongChangedHeader(name, fixed)
	switch {
	case code != "":
		return code, detail
	case policy.IsCookieHeader(name) && operation != "remove":
		return "fixed_header", "Cookies can be removed, and not be changed otherwise: leave " + name + " out."
	case operation == "remove" && value != "":
		return "invalid_header", "Name the header alone, such as " + name + "."
	case operation == "remove":
		return "", ""
	case value == "":
		return "required", "Write the header and a value with a colon between them, such as " + name + ":value."
	case operation != "rename":
		return wrongHeaderValue(value)
	case strings.EqualFold(name, value):
		return "invalid_header", "Case does not count in names of headers. Use another name, or leave this out."
	case policy.IsCookieHeader(value):
		return "fixed_header", "Cookies can be removed, and not be changed otherwise: leave " + value + " out."
	}
	return wrongChangedHeader(value, fixed)
}

func wrongChangedHeader(name string, fixed func(string) bool) (code, detail string) {
	if !changedHeader.MatchString(name) || len(name) > maxChangedHeader {
		return "invalid_header", fmt.Sprintf("Use the name of a header: letters, digits and hyphens, at most %d.",
			maxChangedHeader)
	}
	if fixed(name) {
		return "fixed_header", "Transforms cannot change " + name + ": the gateway sets it, or the message depends on it. " +
			"Credentials for the upstream are headers of its environment."
	}
	return "", ""
}

// wrongArgument returns what is wrong with an entry for the query, "" for nothing.
func wrongArgument(operation, name, value string) (code, detail string) {
	wrongName := func(text string) bool {
		return text == "" || len(text) > maxChangedHeader || strings.Contains(text, "$(") ||
			strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) >= 0
	}
	switch {
	case wrongName(name) || operation == "rename" && value != "" && wrongName(value):
		return "invalid_argument", fmt.Sprintf("Use the name of an argument as it is without escapes: printable ASCII "+
			"characters without spaces and colons, at most %d.", maxChangedHeader)
	case operation == "remove" && value != "":
		return "invalid_argument", "Name the argument alone, such as " + name + "."
	case operation == "remove":
		return "", ""
	case value == "":
		return "required", "Write the name and a value with a colon between them, such as " + name + ":value."
	case operation == "rename" && name == value:
		return "invalid_argument", "Use another name, or leave this out."
	}
	return wrongHeaderValue(value)
}

func wrongHeaderValue(value string) (code, detail string) {
	switch {
	case len(value) > maxTransformValue:
		return "too_long", fmt.Sprintf("Use a value of at most %d bytes.", maxTransformValue)
	case strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) >= 0:
		return "invalid_value", "Use printable ASCII characters."
	case strings.Contains(value, "$("):
		return "invalid_value", "Values are literal. Kong would take $( for the beginning of a template: write it otherwise."
	case value[0] == ':':
		return "invalid_value", "Kong does not read a colon at the beginning of a value: begin with another character."
	}
	return "", ""
}
