package movein

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/core/kongfile"
	"postern/core/policy"
)

// route is a route of the file.
type route struct {
	entity  *kongfile.Entity
	plugins map[string]*kongfile.Entity // that apply to all of its calls, by name
	access  access
	limits  contract.ProjectLimits

	opened   bool     // by an option
	openable []string // calls that an option would let through, of a route that isn't closed
	left     bool     // nothing of it is imported

	hosts        []string // plain, in lowercase, without ports
	wild         []string // with an asterisk
	methods      []string // nil for all
	prefixes     []prefix
	regions      []string // prefixes of the calls that a path matches which can't be imported; "" for all
	regexRegions bool     // one of them is that of a regular expression
	rank         rank

	denials []contract.Rule // for calls that Kong gives to another route
}

// prefix is a path of a route.
type prefix struct {
	path   string // the path prefix of a custom domain, "" for all paths
	length int    // of the path in the file; 0 for a regular expression
	open   bool   // in Kong, it also matches when its last segment continues
	slash  bool   // in Kong, it doesn't match without the slash at its end
	regex  bool
}

// rank is how Kong chooses among the routes that match a call: the highest wins. [Kong 3.10: kong/router/transform.lua,
// get_priority]
type rank struct {
	weight, plainHost, regex, headers, priority int
}

// rankOf returns the rank of a route for the calls that a prefix matches: Kong takes its plain paths and its regular
// expressions for two routes.
func (r *route) rankOf(regex bool) rank {
	out := r.rank
	if regex {
		out.regex, out.priority = 1, r.entity.Value.Get("regex_priority").Int(0)
	}
	return out
}

func (e *entry) rank() rank { return e.route.rankOf(e.prefix.regex) }

func (r rank) compare(other rank) int {
	return cmp.Or(cmp.Compare(r.weight, other.weight), cmp.Compare(r.plainHost, other.plainHost),
		cmp.Compare(r.regex, other.regex), cmp.Compare(r.headers, other.headers),
		cmp.Compare(r.priority, other.priority))
}

// strips reports whether Kong removes the path that matched before it forwards a call.
func (r *route) strips() bool { return r.entity.Value.Get("strip_path").Bool(true) }

// isHTTP reports whether a route takes calls of HTTP.
func isHTTP(e *kongfile.Entity) bool {
	protocols := e.Value.Get("protocols").Texts()
	return len(protocols) == 0 || slices.ContainsFunc(protocols, func(one string) bool {
		return slices.Contains([]string{"http", "https", "grpc", "grpcs", "ws", "wss"}, one)
	})
}

// newRoute reads a route: what matches its calls, and what its plugins do with them.
func (p *planner) newRoute(e *kongfile.Entity) *route {
	r := &route{entity: e}
	v := e.Value
	switch {
	case e.Service != nil && !e.Service.IsOn():
		p.say(e, "route.service_off")
		r.left = true
		return r
	case !isHTTP(e):
		p.say(e, "route.stream")
		r.left = true
		return r
	}
	p.readAccess(r)
	close := func(code, text string) {
		p.say(e, code)
		r.access.closed = append(r.access.closed, reason{text: text})
	}
	if p.readMatch(r, close); r.left {
		return r
	}
	r.limits = p.readLimits(r)
	switch {
	case len(e.Missing) > 0:
		close("route.no_service", "its service isn't in the file")
	case e.Service == nil:
		close("route.no_service", "it has no service")
	case p.targetOf(e.Service) == "":
		close("route.service_skipped", "its service can't be imported")
	}
	if protocols := v.Get("protocols").Texts(); len(protocols) > 0 && !slices.Contains(protocols, "http") &&
		!slices.Contains(protocols, "grpc") {
		p.say(e, "route.https")
	}
	if protocols := v.Get("protocols").Texts(); len(protocols) > 0 && !slices.Contains(protocols, "https") &&
		!slices.Contains(protocols, "grpcs") {
		p.say(e, "route.http")
	}
	if v.Get("path_handling").Text == "v1" {
		p.say(e, "route.path_handling")
	}
	p.settleOpen(r)
	return r
}

// settleOpen opens a route that is closed because of plugins, if an option says so. What a route matches can't be
// opened.
func (p *planner) settleOpen(r *route) {
	if len(r.access.closed) == 0 || r.entity.Service == nil || p.targetOf(r.entity.Service) == "" ||
		len(r.regions) > 0 && len(r.prefixes) == 0 {
		return
	}
	if p.isOpened(r.entity) {
		r.opened = true
		r.access.closed = nil
		if r.access.acl != nil && len(r.access.rules.List) == 0 {
			r.access.acl = nil
		}
		p.say(r.entity, "route.opened")
	}
}

// readMatch sets which calls a route matches.
func (p *planner) readMatch(r *route, close func(code, text string)) {
	v := r.entity.Value
	if v.Get("expression").IsSet() {
		close("route.expression", "its expression can't be imported")
		r.regions, r.rank.weight = []string{""}, 8
		return
	}
	if unfilled := r.entity.Unfilled; len(unfilled) > 0 {
		close("route.placeholder", "its "+unfilled[0]+" has a placeholder without a value")
	}
	for _, name := range []string{"sources", "destinations", "headers", "snis"} {
		if m := v.Get(name); len(m.Items)+len(m.Members) > 0 {
			close("route.match", "it also matches by "+name)
			p.say(r.entity, "route.match", name)
			r.rank.weight++
			if name == "headers" {
				r.rank.headers = len(m.Members)
			}
		}
	}
	special := r.rank.weight > 0
	defer func() { // the rules of its version name its paths
		for _, one := range r.prefixes {
			if !r.strips() && policy.CheckRulePath(one.path+everything) != nil {
				close("route.path", "a path contains characters that a rule's path can't contain")
			}
		}
	}()
	p.readHosts(r)
	if methods := v.Get("methods").Texts(); len(methods) > 0 {
		r.rank.weight++
		if r.methods = readMethods(methods); len(r.methods) == 0 {
			p.say(r.entity, "route.no_methods")
			r.left = true
			return
		}
	}
	p.readPaths(r, close)
	if special { // another route takes the calls that it doesn't match
		for _, one := range r.prefixes {
			r.regions, r.regexRegions = append(r.regions, one.path), r.regexRegions || one.regex
		}
		r.prefixes = nil
	}
}

// readMethods returns methods without those that neither Kong nor the gateway forwards, and those that can't be any.
func readMethods(texts []string) (methods []string) {
	for _, method := range texts {
		method = strings.ToUpper(method)
		if method != "CONNECT" && method != "TRACE" && len(method) <= longestMethod &&
			strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			methods = append(methods, method)
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// longestMethod is the length of the longest method that a custom domain can name.
const longestMethod = 20

func (p *planner) readHosts(r *route) {
	hosts := r.entity.Value.Get("hosts")
	if len(hosts.Items) == 0 {
		return
	}
	r.rank.weight++
	r.rank.plainHost = 1
	for _, item := range hosts.Items {
		host := strings.ToLower(item.Text)
		if name, port, err := net.SplitHostPort(host); err == nil {
			if _, err := strconv.Atoi(port); err == nil {
				host = name
				p.say(r.entity, "route.port")
			}
		}
		switch {
		case len(item.Placeholders) > 0:
		case strings.Contains(host, "*"):
			r.wild = append(r.wild, host)
			r.rank.plainHost = 0
		default:
			r.hosts = append(r.hosts, host)
			if !isHostName(host) || !p.options.CanServe(host) {
				p.unserved[host] = true
			}
		}
	}
}

// isHostName reports whether a name can be that of a custom domain on some server. Names like localhost and todo_api
// work only in the network that the file comes from.
func isHostName(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != host && last != "localhost" && strings.Trim(last, "0123456789") != "" &&
		!strings.ContainsAny(host, "_ /:@?#[]")
}

func (p *planner) readPaths(r *route, close func(code, text string)) {
	v := r.entity.Value
	paths := v.Get("paths")
	if len(paths.Items) == 0 {
		r.prefixes = []prefix{{}}
		return
	}
	r.rank.weight++
	strip := r.strips()
	texts := paths.Texts()
	for _, item := range paths.Items {
		path := item.Text
		switch {
		case len(item.Placeholders) > 0:
			r.regions = append(r.regions, "")
		case isWhole(path, texts):
			if plain := strings.TrimSuffix(path, "/"); plain != path {
				r.prefixes = append(r.prefixes, prefix{path: plain, length: len(path)})
				r.regions, r.regexRegions = append(r.regions, plain), true // the path itself has a higher rank
			}
		case strings.HasPrefix(path, "~"):
			found, ok := readRegex(path[1:], strip)
			if !ok || !isPrefix(strings.TrimSuffix(found.literal, "/")) {
				close("route.regex", "a path is a regular expression that can't be imported")
				r.regions, r.regexRegions = append(r.regions, regionOf(found.literal)), true
				continue
			}
			if !found.whole {
				p.say(r.entity, "route.regex_prefix")
			}
			// Kong doesn't choose among regular expressions by their length.
			r.prefixes = append(r.prefixes, prefix{
				strings.TrimSuffix(found.literal, "/"), 0, !found.whole && !strings.HasSuffix(found.literal, "/"),
				len(found.literal) > 1 && strings.HasSuffix(found.literal, "/"), true,
			})
		default:
			if !isPrefix(strings.TrimRight(path, "/")) {
				close("route.path", "a path contains characters that a path prefix can't contain")
				r.regions = append(r.regions, regionOf(path))
				continue
			}
			if strings.HasSuffix(path, "/") && path != "/" {
				p.say(r.entity, "route.slash")
			} else if path != "/" {
				p.say(r.entity, "route.prefix")
			}
			r.prefixes = append(r.prefixes, prefix{
				strings.TrimRight(path, "/"), len(path), !strings.HasSuffix(path, "/"),
				len(path) > 1 && strings.HasSuffix(path, "/"), false,
			})
		}
	}
}

// isWhole reports whether a path is one of a pair such as ~/a$ and /a/, which together are a prefix as custom domains
// have it. Kong's ingress controller writes them.
func isWhole(path string, all []string) bool {
	plain, slash := strings.CutSuffix(path, "/")
	if !slash {
		var isRegex bool
		if plain, isRegex = strings.CutPrefix(strings.TrimSuffix(path, "$"), "~"); !isRegex {
			return false
		}
	}
	return plain != "" && isPrefix(plain) && strings.Trim(plain, regexPlain) == "" &&
		slices.Contains(all, plain+"/") && slices.Contains(all, "~"+plain+"$")
}

// regexPlain are the characters that stand for themselves in a regular expression.
const regexPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~/"

// mostPrefix is the length of the longest path prefix of a custom domain.
const mostPrefix = 200

// isPrefix reports whether a path can be the prefix of a custom domain.
func isPrefix(path string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,=:@/"
	if path == "" {
		return true
	}
	normal, err := policy.NormalizePath(path)
	return err == nil && normal == path && len(path) <= mostPrefix && strings.Trim(path, characters) == ""
}

// regex is the meaning of a path's regular expression.
type regex struct {
	literal string // that every path it matches begins with
	whole   bool   // it matches whole segments, as a custom domain does
}

// readRegex returns the meaning of a regular expression, or false if it isn't a prefix. Kong anchors it at the
// beginning only, and strips all that it matched.
func readRegex(text string, strip bool) (regex, bool) {
	text = strings.TrimPrefix(text, "^")
	var literal strings.Builder
	at := 0
	for at < len(text) {
		c := text[at]
		size := 1
		if c == '\\' && at+1 < len(text) && strings.IndexByte(`./-_~`, text[at+1]) >= 0 {
			c, size = text[at+1], 2
		} else if !isPlain(c) {
			break
		}
		if at+size < len(text) && strings.IndexByte("?*+{", text[at+size]) >= 0 {
			break // the character is optional or repeated
		}
		literal.WriteByte(c)
		at += size
	}
	found := regex{literal: literal.String()}
	if !strings.HasPrefix(found.literal, "/") {
		return regex{}, false
	}
	switch rest := text[at:]; rest {
	case "":
		found.whole = found.literal == "/"
		return found, true
	case "(/|$)", "(?:/|$)", "($|/)", "(?:$|/)":
		found.whole = true
		return found, !strings.HasSuffix(found.literal, "/")
	case "(/.*)?$", "(?:/.*)?$", "(/.*)?", "(?:/.*)?":
		found.whole = strings.HasSuffix(rest, "$")
		return found, !strip && !strings.HasSuffix(found.literal, "/")
	case ".*", "(.*)", ".*$", "(.*)$", "(?:.*)", "(?<path>.*)":
		found.whole = found.literal == "/"
		return found, !strip
	}
	return found, false
}

func isPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '/' || c == '-' || c == '_' ||
		c == '~' || c == '%'
}

// regionOf returns the longest prefix of a custom domain that all calls which begin with a text have.
func regionOf(literal string) string {
	path := floorOf(literal)
	for path != "" && !isPrefix(path) {
		path = floorOf(path)
	}
	return path
}

// floorOf returns the whole segments at the beginning of a text: "/admin" of "/admin/us".
func floorOf(literal string) string {
	if at := strings.LastIndexByte(literal, '/'); at > 0 {
		return literal[:at]
	}
	return ""
}
