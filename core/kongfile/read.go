package kongfile

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"postern/core/configfile"
	"postern/core/filelimits"
)

// File is a Kong file.
type File struct {
	Version      string    // _format_version: 1.1, 2.1 or 3.0
	Entities     []*Entity // in the order of the file, children after their parents
	Placeholders []configfile.Placeholder
	SelectTags   []string // decK left out what doesn't have these tags
	Settings     []string // names of the file's own members, such as _transform, that change no entity

	name    string                      // of the file that is read, if there are several
	shared  map[string]configfile.Value // decK's _plugin_configs
	base    map[Type]configfile.Value   // what decK's _info.defaults say about entities of a type
	unknown []string                    // names of unknown members at the tops of the files, without repetitions
	first   string                      // where the first of them is, for people
	left    int                         // steps that completing entities may still take
	byKind  map[Type][]*Entity
	globals []*Entity // plugins that apply to every call
}

// topLevel finds the members of a Kong file at the beginning of lines, or in JSON.
var topLevel = regexp.MustCompile(`(?m)(^|[{,]\s*)["']?_format_version["']?\s*:|` +
	`^["']?(services|routes|consumers|upstreams|keyauth_credentials|_plugin_configs)["']?\s*:\s*(#.*)?\r?$`)

// dump finds the beginning of an answer of GET /config.
var dump = regexp.MustCompile(`^\s*\{\s*"config"\s*:\s*"`)

// Recognizes reports whether a file looks like one of Kong.
func Recognizes(text []byte) bool {
	return topLevel.Match(text) || dump.Match(text) && bytes.Contains(text, []byte("_format_version"))
}

// Read reads a file. set has the values of placeholders by their names. Errors are *configfile.Error.
func Read(text []byte, set map[string]string) (*File, error) {
	d, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return Files([]*configfile.Document{d}, set)
}

// Parse reads a file without filling its placeholders. Errors are *configfile.Error.
func Parse(text []byte) (*configfile.Document, error) {
	text, err := configfile.CheckText(text)
	if err != nil {
		return nil, err
	}
	if dump.Match(text) {
		answer, err := configfile.FromJSON(text)
		if err != nil {
			return nil, err
		}
		if len(answer.Members) == 1 {
			text = []byte(answer.Get("config").Text)
		}
	}
	return configfile.Parse(text)
}

// Files returns the entities of all documents, as decK joins the files of one gateway. set has the values of
// placeholders by their names. Errors are *configfile.Error.
func Files(documents []*configfile.Document, set map[string]string) (*File, error) {
	f := &File{
		byKind: map[Type][]*Entity{}, left: int(filelimits.KongDefaults.Most) * configfile.StepsOfMember,
	}
	for _, d := range documents {
		root, placeholders, err := d.Filled(set)
		f.name = d.Name
		f.Placeholders = configfile.Join(f.Placeholders, placeholders)
		if err == nil {
			err = f.header(root)
		}
		if err == nil {
			err = f.collect(root)
		}
		if err != nil {
			return nil, configfile.In(d.Name, err)
		}
	}
	if err := f.resolve(); err != nil {
		return nil, err
	}
	return f, nil
}

// HashKeys replaces the values of API keys, apart from those with placeholders.
func HashKeys(d *configfile.Document, hash func(text string) configfile.Key) {
	hashKeys(d, d.Root(), hash)
}

func hashKeys(d *configfile.Document, v *configfile.Value, hash func(string) configfile.Key) {
	for i := range v.Items {
		hashKeys(d, &v.Items[i], hash)
	}
	for i := range v.Members {
		member := &v.Members[i]
		if lists[member.Name] != KeyAuth {
			hashKeys(d, &member.Value, hash)
			continue
		}
		hashKey(d, &member.Value, hash)
		for n := range member.Value.Items {
			hashKey(d, &member.Value.Items[n], hash)
		}
	}
}

func hashKey(d *configfile.Document, credential *configfile.Value, hash func(string) configfile.Key) {
	for i := range credential.Members {
		if credential.Members[i].Name == "key" {
			d.Hash(&credential.Members[i].Value, hash)
		}
	}
}

// header reads the members of the file that aren't entities.
func (f *File) header(root configfile.Value) error {
	version := root.Get("_format_version")
	switch {
	case !version.IsSet():
		return configfile.Refuse(0, `The file has no _format_version. Add _format_version: "3.0", or the version that `+
			"the file was written for.")
	case version.Text != "1.1" && version.Text != "2.1" && version.Text != "3.0":
		return configfile.Refuse(version.Line, "This _format_version isn't 1.1, 2.1 or 3.0. Convert the file with "+
			"deck file convert.")
	case f.Version != "" && f.Version != version.Text:
		return configfile.Refuse(version.Line, "This _format_version differs from the version in another file. "+
			"Import files with different versions separately.")
	}
	f.Version = version.Text
	f.base, f.shared = map[Type]configfile.Value{}, map[string]configfile.Value{}
	for _, tag := range root.Get("_info", "select_tags").Texts() {
		if !slices.Contains(f.SelectTags, tag) {
			f.SelectTags = append(f.SelectTags, tag)
		}
	}
	for _, m := range root.Get("_info", "defaults").Members {
		f.base[Type(m.Name)] = m.Value
	}
	for _, m := range root.Members {
		if !strings.HasPrefix(m.Name, "_") {
			continue
		}
		switch m.Name {
		case "_format_version", "_transform", "_comment", "_ignore", "_info", "_workspace", "_konnect":
		case "_plugin_configs":
			for _, one := range m.Value.Members {
				f.shared[one.Name] = one.Value
			}
		default:
			if err := f.noteUnknown(m); err != nil {
				return err
			}
			f.Settings = append(f.Settings, m.Name)
		}
	}
	return nil
}
