package movein

import (
	"regexp"
	"slices"
	"strings"

	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/kongfile"
)

const maxCORSAge = 86_400

// plainOrigin is an origin that Kong compares as it is. It takes others as regular expressions. [Kong 3.10:
// kong/plugins/cors/handler.lua]
var plainOrigin = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9.:-]+$`)

// readCORS returns the CORS of a plugin, nil if none of its origins can be kept.
func (p *planner) readCORS(e *kongfile.Entity) *contract.CORS {
	if e == nil {
		return nil
	}
	p.use(e)
	known, was := p.found.cors[e]
	if !was {
		known = p.corsOf(e)
		p.found.cors[e] = known
	}
	if known == nil {
		return nil
	}
	out := *known // a project's own
	return &out
}

func (p *planner) corsOf(e *kongfile.Entity) *contract.CORS {
	out := &contract.CORS{
		Origins: []string{}, Methods: upperAll(e.Config("methods").Texts()), Headers: listOf(e.Config("headers")),
		ExposedHeaders: listOf(e.Config("exposed_headers")), Credentials: e.Config("credentials").Bool(false),
	}
	origins := e.Config("origins").Texts()
	switch {
	case len(origins) == 0, slices.Contains(origins, "*"):
		out.Origins = []string{"*"}
		if out.Credentials {
			out.Credentials = false
			p.say(e, "cors.credentials")
		}
	default:
		isOpen := len(e.Config("origins").Unfilled()) > 0
		list := e.Config("origins")
		items := list.Items
		if list.Kind != configfile.List {
			items = []configfile.Value{list}
		}
		for _, origin := range items {
			if plainOrigin.MatchString(origin.Text) && !isOpen {
				out.Origins = append(out.Origins, origin.Text)
				continue
			}
			p.say(e, "cors.origin", origin.AsWritten())
		}
	}
	if slices.Contains(out.Headers, "*") { // with credentials, browsers take it as the name of a header
		out.Headers = []string{"*"}
		if out.Credentials {
			out.Credentials = false
			p.say(e, "cors.credentials")
		}
	}
	if age := e.Config("max_age"); age.IsSet() {
		n := age.Int(0)
		if n > maxCORSAge {
			n = maxCORSAge
			p.say(e, "cors.max_age")
		}
		out.MaxAge = &n
	}
	if e.Config("preflight_continue").Bool(false) {
		p.say(e, "cors.preflight")
	}
	if e.Config("private_network").Bool(false) {
		p.say(e, "cors.private_network")
	}
	if len(out.Origins) == 0 {
		p.say(e, "cors.none")
		return nil
	}
	return out
}

func listOf(v configfile.Value) []string {
	if out := v.Texts(); out != nil {
		return out
	}
	return []string{}
}

func upperAll(texts []string) []string {
	out := []string{}
	for _, text := range texts {
		out = append(out, strings.ToUpper(text))
	}
	return out
}
