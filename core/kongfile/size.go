package kongfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"postern/core/configfile"
	"postern/core/filelimits"
)

// checkSize returns an error if an entity has more values than a plan can compare.
func (f *File) checkSize(e *Entity) error {
	if !listed[e.Type] || !e.Value.IsLarger(int(filelimits.KongEntityValues.Most), apart[e.Type]) {
		return nil
	}
	what := strings.ReplaceAll(string(e.Type), "_", " ")
	if name := e.PluginName(); e.Type == Plugin && len(name) <= 64 {
		what += " " + strconv.Quote(name)
	}
	return tooLarge(e, fmt.Sprintf("The %s at %s %s", what, e.Pointer, filelimits.KongEntityValues.Refusal()))
}

// short are the members of entities that the plan repeats, for example for each credential of a consumer.
var short = []string{
	"id", "name", "username", "custom_id", "group", "target", "host", "path", "host_header", "hash_on_header",
	"hash_on_cookie", "hash_on_query_arg", "hash_on_uri_capture",
}

// checkNameSizes returns an error if one of these members is long.
func checkNameSizes(e *Entity) error {
	if !listed[e.Type] {
		return nil // a long name is shortened
	}
	for _, m := range e.Value.Members {
		if int64(len(m.Value.Text)) > filelimits.KongName.Most && slices.Contains(short, m.Name) {
			return tooLarge(e, fmt.Sprintf("The %s of the %s at %s %s", m.Name,
				strings.ReplaceAll(string(e.Type), "_", " "), e.Pointer, filelimits.KongName.Refusal()))
		}
	}
	return nil
}

func tooLarge(e *Entity, detail string) error {
	return &configfile.Error{File: e.File, Line: e.Line, Code: configfile.CodeLimit, Detail: detail}
}
