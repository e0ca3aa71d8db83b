package credentials

import (
	"maps"
	"slices"
	"strings"
)

// Context is a server that commands can use, with what is kept for it.
type Context struct {
	Name       string `json:"name"`   // host of the server, or its address if another server has the same host
	Server     string `json:"server"` // address
	Account    string `json:"account"`
	Workspaces int    `json:"workspaces"` // number of kept workspace keys
	Current    bool   `json:"current"`
}

// Contexts returns the current context and those of the servers that something is kept for, by name.
func (c File) Contexts() ([]Context, error) {
	content, err := c.read()
	if err != nil {
		return nil, err
	}
	servers := map[string]bool{}
	for server, workspaces := range content.Servers {
		servers[server] = len(workspaces) > 0
	}
	for server := range content.Logins {
		servers[server] = true
	}
	if content.Current != "" {
		servers[content.Current] = true
	}
	maps.DeleteFunc(servers, func(_ string, kept bool) bool { return !kept })
	count := map[string]int{}
	for server := range servers {
		count[hostOf(server)]++
	}
	var list []Context
	for server := range servers {
		one := Context{
			Name:       hostOf(server),
			Server:     server,
			Account:    content.Logins[server].Account,
			Workspaces: len(content.Servers[server]),
			Current:    server == content.Current,
		}
		if count[one.Name] > 1 {
			one.Name = server
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Context) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// hostOf returns an address without its scheme.
func hostOf(server string) string {
	_, host, _ := strings.Cut(server, "://")
	return host
}

// ContextNamed returns the context with a name or an address, or nil.
func (c File) ContextNamed(name string) (*Context, error) {
	list, err := c.Contexts()
	for _, one := range list {
		if one.Name == name || one.Server == name {
			return &one, err
		}
	}
	return nil, err
}

// Current returns the URL of the server that commands use, "" for none.
func (c File) Current() (string, error) {
	content, err := c.read()
	return content.Current, err
}

// Use makes a server the one that commands use.
func (c File) Use(server string) error {
	return c.change(func(content *content) { content.Current = server })
}
