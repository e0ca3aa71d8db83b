package sample

import (
	"slices"

	"postern/core/snapshot"
)

// Nasty is text as an attacker would write it wherever text is free: for
// shells, templates, YAML, vaults, spreadsheets and the eyes of a reviewer.
const Nasty = "$(id) ${HOME} {{ env }} `id` '\"\\ \n- !!python/object/apply:os.system [id]\n#\t: & * ? | > % @ " +
	"\u202egnp.exe \u0085\ufeff\x00\x7f \u2028 {vault://env/HOME} \xff]]>"

// owners are names that a parser could take for something else.
var owners = []string{
	"{vault://env/HOME}", "null", "~", "yes", "12:30:45", "=1+1", `a"}],"x":[{"`, "*", "&a", "- x", "@%!", "0x1f",
}

// Hostile is the sample project with Nasty in every free text, and its keys.
func Hostile(target string) (*snapshot.Project, map[string]Plain) {
	p := Project(target)
	p.DisplayName = Nasty
	p.FallbackOwner = "$(id)`id`'\"\\{vault://env/HOME}${HOME}!!x: y #"
	p.KeyTypes[0].Name = Nasty
	p.KeyTypes[0].Scopes = []string{"*", "$(id)"}
	p.Tenants[0].FallbackOwner = owners[0]
	p.Product = Nasty
	keys := Keys()
	names := make([]string, 0, len(keys))
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		k := keys[name]
		k.Description = Nasty
		k.Owner = owners[i%len(owners)]
		if k.KeyType == "full" {
			k.KeyType, k.Scopes = Nasty, p.KeyTypes[0].Scopes
		}
		keys[name] = k
	}
	return p, keys
}
