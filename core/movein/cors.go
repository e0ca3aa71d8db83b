package movein

import (
	"regexp"
	"slices"
	"strconv"
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
		Origins: []string{}, Methods: p.corsMethods(e), Headers: p.corsHeaders(e, "headers"),
		ExposedHeaders: p.corsHeaders(e, "exposed_headers"), Credentials: e.Config("credentials").Bool(false),
	}
	if len(e.Unfilled) > 0 {
		p.say(e, "cors.placeholder", e.Unfilled...)
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
			if plain := plainOriginOf(origin.Text); plain != "" && !isOpen {
				if !slices.Contains(out.Origins, plain) {
					out.Origins = append(out.Origins, plain)
				}
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
	switch all := slices.Contains(out.ExposedHeaders, "*"); {
	case all && out.Credentials: // here too
		out.ExposedHeaders = slices.DeleteFunc(out.ExposedHeaders, func(name string) bool { return name == "*" })
	case all:
		out.ExposedHeaders = []string{"*"}
	}
	if age := e.Config("max_age"); age.IsSet() && len(age.Placeholders) == 0 {
		n := int(max(0, min(age.Float(0), maxCORSAge+1)))
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

// originHost is the host of an origin of http or https.
var originHost = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// plainOriginOf returns an origin in the form in which browsers send it and Kong compares it, without the scheme's
// default port; "" if no page can have it.
func plainOriginOf(text string) string {
	scheme, host, _ := strings.Cut(text, "://")
	host, port, hasPort := strings.Cut(host, ":")
	if !plainOrigin.MatchString(text) || hasPort && !isPort(port) {
		return ""
	}
	switch scheme = strings.ToLower(scheme); {
	case scheme != "http" && scheme != "https":
		return text
	case !originHost.MatchString(strings.ToLower(host)):
		return ""
	}
	plain := scheme + "://" + strings.ToLower(host)
	if !hasPort || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return plain
	}
	return plain + ":" + port
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text[0] != '0'
}

// pageMethods are the methods that pages can be allowed. Browsers send neither TRACE nor CONNECT.
var pageMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// corsMethods returns the methods of a cors plugin, in uppercase and once each; none for all.
func (p *planner) corsMethods(e *kongfile.Entity) []string {
	methods := []string{}
	for _, method := range e.Config("methods").Texts() {
		switch method = strings.ToUpper(method); {
		case slices.Contains(methods, method), method == "TRACE", method == "CONNECT":
		case slices.Contains(pageMethods, method):
			methods = append(methods, method)
		default:
			p.say(e, "cors.method", method)
		}
	}
	if len(methods) == 0 && len(e.Config("methods").Texts()) > 0 {
		return []string{"OPTIONS"} // not all
	}
	return methods
}

// headerName is a field name (RFC 9110, section 5.1) that CORS takes.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")

// corsHeaders returns the names of headers, once each. Kong joins the list, so an entry can have several names.
func (p *planner) corsHeaders(e *kongfile.Entity, list string) []string {
	names := []string{}
	for _, text := range e.Config(list).Texts() {
		for name := range strings.SplitSeq(text, ",") {
			switch name = strings.TrimSpace(name); {
			case name == "", slices.ContainsFunc(names, func(one string) bool { return strings.EqualFold(one, name) }):
			case headerName.MatchString(name):
				names = append(names, name)
			default:
				p.say(e, "cors.header", name)
			}
		}
	}
	return names
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
