package kongfile

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"postern/core/configfile"
)

// defaults adds the members that the file leaves out, and replaces those that older versions wrote otherwise. [Kong
// 3.10: kong/db/schema/entities, kong/db/migrations/migrate_path_280_300.lua]
func (f *File) defaults(e *Entity) {
	e.Value = e.Value.Over(f.base[e.Type], &f.left)
	switch e.Type {
	case Service:
		e.splitURL()
		// The port is 80 also for https: only url knows another.
		e.otherwise("protocol", "http")
		e.otherwise("port", "80")
	case Route:
		if f.Version != "3.0" {
			e.markRegexes()
		}
	case Plugin:
		f.pluginDefaults(e)
	case Target:
		if host := e.Value.Get("target").Text; host != "" && !hasPort(host) {
			e.set("target", net.JoinHostPort(strings.Trim(host, "[]"), "8000"))
		}
		e.otherwise("weight", "100")
	}
}

func (e *Entity) otherwise(name, text string) {
	if !e.Value.Get(name).IsSet() {
		e.set(name, text)
	}
}

func (e *Entity) set(name, text string) {
	members := make([]configfile.Member, 0, len(e.Value.Members)+1)
	old := configfile.Value{Line: e.Line}
	for _, m := range e.Value.Members {
		if m.Name == name {
			old = m.Value
			continue
		}
		members = append(members, m)
	}
	old.Kind, old.Text = configfile.Text, text
	members = append(members, configfile.Member{Name: name, Value: old})
	e.Value.Members = members
}

// splitURL sets protocol, host, port and path from url, which wins over them.
func (e *Entity) splitURL() {
	text := e.Value.Get("url")
	if !text.IsSet() {
		return
	}
	u, err := url.Parse(text.Text)
	if err != nil || u.Host == "" || len(text.Placeholders) > 0 {
		e.set("host", "") // the text can have a password
		return
	}
	e.set("protocol", u.Scheme)
	e.set("host", u.Hostname())
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https" || u.Scheme == "grpcs" || u.Scheme == "tls" || u.Scheme == "wss":
		port = "443"
	default:
		port = "80"
	}
	e.set("port", port)
	if u.Path != "" {
		e.set("path", u.EscapedPath())
	}
}

func hasPort(host string) bool {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return false
	}
	_, err = strconv.Atoi(port)
	return err == nil
}

// plainPath is a path that versions before 3.0 took as a prefix. They took all others as regular expressions.
var plainPath = regexp.MustCompile(`^[a-zA-Z0-9.\-_~/%]*$`)

func (e *Entity) markRegexes() {
	for i, m := range e.Value.Members {
		if m.Name != "paths" || m.Value.Kind != configfile.List {
			continue
		}
		paths := make([]configfile.Value, 0, len(m.Value.Items))
		for _, p := range m.Value.Items {
			if p.Text != "" && !plainPath.MatchString(p.Text) {
				p.Text = "~" + p.Text
			}
			paths = append(paths, p)
		}
		members := append([]configfile.Member{}, e.Value.Members...)
		members[i].Value.Items = paths
		e.Value.Members = members
	}
}

// renamed are the members of plugins that have another name since 3.0.
var renamed = map[string]string{"whitelist": "allow", "blacklist": "deny"}

func (f *File) pluginDefaults(e *Entity) {
	config := e.Value.Get("config")
	if base, ok := f.shared[e.Value.Get("_config").Text]; ok {
		config = config.Over(base, &f.left)
		f.left -= configfile.StepsOfMember * len(config.Members)
	}
	if config.IsSet() && config.Kind != configfile.Object && len(config.Items) > 0 || config.Text != "" {
		return // it can't be read
	}
	members := make([]configfile.Member, 0, len(config.Members))
	for _, m := range config.Members {
		if name, old := renamed[m.Name]; old {
			if config.Get(name).IsSet() {
				continue
			}
			m.Name = name
		}
		members = append(members, m)
	}
	if config.Kind != configfile.Object {
		config.Kind = configfile.Object
	}
	config.Members = members
	var rest []configfile.Member
	for _, m := range e.Value.Members {
		if m.Name != "config" {
			rest = append(rest, m)
		}
	}
	rest = append(rest, configfile.Member{Name: "config", Value: config})
	e.Value.Members = rest
}
