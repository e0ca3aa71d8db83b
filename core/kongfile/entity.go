package kongfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"postern/core/configfile"
	"postern/core/filelimits"
)

// Type is what an entity is, as Kong's references name it.
type Type string

// The types of entities that the importer knows. An entity of another type has the name of its list.
const (
	Service       Type = "service"
	Route         Type = "route"
	Plugin        Type = "plugin"
	Consumer      Type = "consumer"
	ConsumerGroup Type = "consumer_group"
	KeyAuth       Type = "keyauth_credential"
	ACL           Type = "acl"
	JWTSecret     Type = "jwt_secret"
	BasicAuth     Type = "basicauth_credential"
	HMACAuth      Type = "hmacauth_credential"
	OAuth2        Type = "oauth2_credential"
	MTLSAuth      Type = "mtls_auth_credential"
	Upstream      Type = "upstream"
	Target        Type = "target"
	Certificate   Type = "certificate"
	SNI           Type = "sni"
	CACertificate Type = "ca_certificate"
	Vault         Type = "vault"
)

// lists are the members that have entities, at the top of a file or within a parent.
var lists = map[string]Type{
	"services": Service, "routes": Route, "plugins": Plugin, "consumers": Consumer, "consumer_groups": ConsumerGroup,
	"keyauth_credentials": KeyAuth, "acls": ACL, "jwt_secrets": JWTSecret, "basicauth_credentials": BasicAuth,
	"hmacauth_credentials": HMACAuth, "oauth2_credentials": OAuth2, "mtls_auth_credentials": MTLSAuth,
	"upstreams": Upstream, "targets": Target, "certificates": Certificate, "snis": SNI,
	"ca_certificates": CACertificate, "vaults": Vault,
}

// nested are the lists of entities that an entity can have.
var nested = map[Type][]string{
	Service: {"routes", "plugins"},
	Route:   {"plugins"},
	Consumer: {"plugins", "keyauth_credentials", "acls", "jwt_secrets", "basicauth_credentials", "hmacauth_credentials",
		"oauth2_credentials", "mtls_auth_credentials"},
	ConsumerGroup: {"plugins"},
	Upstream:      {"targets"},
	Certificate:   {"snis"},
}

// listed are the types that lists have.
var listed = func() map[Type]bool {
	out := map[Type]bool{}
	for _, t := range lists {
		out[t] = true
	}
	return out
}()

// apart are the members that don't count for the size of an entity: entities of their own, and members of groups.
var apart = func() map[Type][]string {
	out := map[Type][]string{}
	for t, names := range nested {
		out[t] = names
	}
	out[ConsumerGroup] = append([]string{"consumers"}, nested[ConsumerGroup]...)
	return out
}()

// Entity is one thing that a file configures.
type Entity struct {
	Type    Type
	File    string // its name, if there are several
	Pointer string // into the file, such as /services/0/routes/1, or kong.yaml#/services/0/routes/1 of several
	Line    int
	Value   configfile.Value // with defaults

	Parent *Entity // that it is nested in; nil at the top

	// What it refers to. A plugin without any of these is global.
	Service, Route, Consumer, Group, Upstream, Certificate *Entity

	// Missing are the references to entities that isn't in the file.
	Missing []string

	// Unfilled are the fields that are read and have a placeholder without a value.
	Unfilled []string

	Plugins     []*Entity // whose scope names this entity
	Routes      []*Entity // of a service
	Targets     []*Entity // of an upstream
	Credentials []*Entity // of a consumer
	ACLs        []*Entity // of a consumer
	SNIs        []*Entity // of a certificate
}

// ID returns the entity's id in the file, "" if it doesn't have one.
func (e *Entity) ID() string { return e.Value.Get("id").Text }

// Label is Name, with a number instead of the pointer of an entity without a name, such as consumer 2.
func (e *Entity) Label() string {
	at := e
	if e.Consumer != nil && e.isCredential() {
		at = e.Consumer
	}
	n, err := strconv.Atoi(at.Pointer[strings.LastIndexByte(at.Pointer, '/')+1:])
	if err != nil {
		return e.Name()
	}
	return strings.ReplaceAll(e.Name(), at.Pointer, strings.ReplaceAll(string(at.Type), "_", " ")+" "+strconv.Itoa(n+1))
}

func (e *Entity) isCredential() bool {
	return slices.Contains([]Type{ACL, KeyAuth, JWTSecret, BasicAuth, HMACAuth, OAuth2, MTLSAuth}, e.Type)
}

// Name returns what people call the entity. It is never a credential.
func (e *Entity) Name() string {
	text := func(members ...string) string {
		for _, name := range members {
			if v := e.Value.Get(name); v.Text != "" {
				return v.Text
			}
		}
		return ""
	}
	switch e.Type {
	case Service:
		return cmp.Or(text("name"), addressOnly(text("host")), text("id"), e.Pointer)
	case Route, Upstream, ConsumerGroup, SNI, CACertificate:
		return cmp.Or(text("name", "id"), e.Pointer)
	case Consumer:
		return cmp.Or(text("username", "custom_id", "id"), e.Pointer)
	case Plugin:
		return cmp.Or(text("name"), "plugin") + e.scope()
	case Target:
		return cmp.Or(addressOnly(text("target")), e.Pointer)
	case ACL:
		return text("group") + of(e.Consumer)
	case KeyAuth, JWTSecret, BasicAuth, HMACAuth, OAuth2, MTLSAuth:
		return "credential" + of(e.Consumer)
	}
	return cmp.Or(shortened(text("name", "id")), e.Pointer)
}

// shortened returns the beginning of a name that is part of many others.
func shortened(name string) string {
	const most = 100
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

// addressOnly returns a host without what can be a secret around it: a user and password, a path or a query.
func addressOnly(host string) string {
	host = host[strings.LastIndexByte(host, '@')+1:]
	if at := strings.IndexAny(host, "/?#"); at >= 0 {
		host = host[:at]
	}
	return host
}

func of(e *Entity) string {
	if e == nil {
		return ""
	}
	return " of " + shortened(e.Name())
}

// scope says what a plugin applies to.
func (e *Entity) scope() string {
	var on []string
	for _, one := range []*Entity{e.Route, e.Service, e.Consumer, e.Group} {
		if one != nil {
			on = append(on, strings.ReplaceAll(string(one.Type), "_", " ")+" "+shortened(one.Name()))
		}
	}
	if len(on) == 0 && len(e.Missing) == 0 {
		return " (global)"
	}
	return " on " + strings.Join(append(on, e.Missing...), ", ")
}

// Of returns the entities of a type, in the order of the file.
func (f *File) Of(t Type) []*Entity { return f.byKind[t] }

// collect finds all entities of a file.
func (f *File) collect(root configfile.Value) error {
	for _, m := range root.Members {
		if strings.HasPrefix(m.Name, "_") || !m.Value.IsSet() {
			continue
		}
		t, known := lists[m.Name]
		if !known {
			t = Type(m.Name)
			if err := f.noteUnknown(m); err != nil {
				return err
			}
		}
		if err := f.list(m.Value, t, f.begin()+"/"+m.Name, nil); err != nil {
			return err
		}
	}
	return nil
}

// noteUnknown returns an error if the files have more unknown members at their tops than an import may have, and
// otherwise counts one.
func (f *File) noteUnknown(m configfile.Member) error {
	switch {
	case slices.Contains(f.unknown, m.Name):
		return nil
	case len(f.unknown) == 0:
		at := Entity{File: f.name, Line: m.Value.Line}
		f.first = fmt.Sprintf("%q %s", m.Name[:min(len(m.Name), 64)], at.place())
	case int64(len(f.unknown)) == filelimits.KongUnknown.Most:
		return &configfile.Error{
			Line: m.Value.Line, Code: configfile.CodeLimit,
			Detail: filelimits.KongUnknown.Sentence() + " The first one is " + f.first + ".",
		}
	}
	f.unknown = append(f.unknown, m.Name)
	return nil
}

// begin returns the beginning of pointers into the file that is read.
func (f *File) begin() string {
	if f.name == "" {
		return ""
	}
	return f.name + "#"
}

func (f *File) list(all configfile.Value, t Type, pointer string, parent *Entity) error {
	items := all.Items
	if all.Kind != configfile.List {
		if _, known := nested[t]; known && parent == nil {
			return configfile.Refuse(all.Line, "Kong requires a list here. Begin each element with a hyphen.")
		}
		items = []configfile.Value{all}
	}
	if err := f.mayAdd(t, len(items)); err != nil {
		return err
	}
	for i, v := range items {
		e := &Entity{
			Type: t, File: f.name, Pointer: pointer + "/" + strconv.Itoa(i), Line: v.Line, Parent: parent, Value: v,
		}
		if v.Kind != configfile.Object { // such as the names of a certificate's snis
			e.Value = configfile.Value{
				Kind: configfile.Object, Line: v.Line, Members: []configfile.Member{{Name: "name", Value: v}},
			}
		}
		if err := f.checkSize(e); err != nil {
			return err
		}
		f.defaults(e)
		if f.left < 0 {
			return tooLarge(e, filelimits.KongDefaults.Sentence())
		}
		if err := e.checkFields(); err != nil {
			return err
		}
		if err := checkNameSizes(e); err != nil {
			return err
		}
		f.Entities = append(f.Entities, e)
		f.byKind[t] = append(f.byKind[t], e)
		for _, name := range nested[t] {
			if children := v.Get(name); children.IsSet() {
				if err := f.list(children, lists[name], e.Pointer+"/"+name, e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func duplicate(e *Entity, detail string) error {
	return &configfile.Error{File: e.File, Line: e.Line, Code: configfile.CodeDuplicate, Detail: detail}
}

// mayAdd returns an error if a list has more entities than a file may have, before their defaults are set.
func (f *File) mayAdd(t Type, more int) error {
	switch {
	case t == Plugin && int64(len(f.byKind[t])+more) > filelimits.KongPlugins.Most:
		return configfile.Beyond(filelimits.KongPlugins)
	case t == Route && int64(len(f.byKind[t])+more) > filelimits.KongRoutes.Most:
		return configfile.Beyond(filelimits.KongRoutes)
	case int64(len(f.Entities)+more) > filelimits.KongEntities.Most:
		return configfile.Beyond(filelimits.KongEntities)
	}
	return nil
}

// names finds entities by name or ID.
type names map[Type]map[string]*Entity

// nameMembers are the members that references name entities by.
var nameMembers = map[Type][]string{
	Service: {"id", "name"}, Route: {"id", "name"}, Consumer: {"id", "username", "custom_id"},
	ConsumerGroup: {"id", "name"}, Upstream: {"id", "name"}, Certificate: {"id"},
}

// resolve connects entities with those that they refer to, or that they are nested in.
func (f *File) resolve() error {
	known := names{}
	if err := f.checkNames(); err != nil {
		return err
	}
	for t, members := range nameMembers {
		known[t] = map[string]*Entity{}
		for i := len(members) - 1; i >= 0; i-- { // an id wins over a name
			for _, e := range f.byKind[t] {
				if text := e.Value.Get(members[i]).Text; text != "" {
					known[t][text] = e
				}
			}
		}
	}
	for _, e := range f.Entities {
		e.Service, e.Route = known.of(e, Service, "service"), known.of(e, Route, "route")
		e.Consumer, e.Group = known.of(e, Consumer, "consumer"), known.of(e, ConsumerGroup, "consumer_group")
		switch e.Type {
		case Target:
			e.Upstream = known.of(e, Upstream, "upstream")
		case SNI:
			e.Certificate = known.of(e, Certificate, "certificate")
		case Service:
			e.Certificate = known.of(e, Certificate, "client_certificate")
		}
		f.connect(e)
	}
	return f.checkRoutes(known)
}

// checkRoutes returns an error if all routes together have too many plugins, or too much text of what applies to them.
// The plan repeats the text for each route that has plugins, and once for the other routes of each service.
func (f *File) checkRoutes(known names) error {
	left, text := filelimits.KongPluginsOfRoutes.Most, filelimits.KongRouteText.Most
	sizes, shared := map[*Entity]int64{}, map[*Entity]bool{}
	use := func(all ...*Entity) {
		for _, e := range all {
			size, counted := sizes[e]
			if !counted {
				size = e.Value.TextSize(apart[e.Type]...)
				sizes[e] = size
			}
			text -= size
		}
	}
	for _, r := range f.byKind[Route] {
		left -= int64(len(r.Plugins) + len(f.globals))
		if r.Service != nil {
			left -= int64(len(r.Service.Plugins))
		}
		if s := r.Service; s != nil && (len(r.Plugins) > 0 || !shared[s]) {
			shared[s] = shared[s] || len(r.Plugins) == 0
			use(s)
			use(s.Plugins...)
			use(r.Plugins...)
			use(f.globals...)
			if upstream := known[Upstream][s.Value.Get("host").Text]; upstream != nil {
				use(upstream)
			}
		}
		if text < 0 {
			return tooLarge(r, fmt.Sprintf("Up to the route at %s, %s", r.Pointer, filelimits.KongRouteText.Refusal()))
		}
		if left < 0 {
			return tooLarge(r, fmt.Sprintf("Up to the route at %s, %s", r.Pointer,
				filelimits.KongPluginsOfRoutes.Refusal()))
		}
	}
	return nil
}

// checkNames returns an error if two entities of a type have the same name or ID. Kong refuses such files, and a plugin
// that names one of them would leave the other without it.
func (f *File) checkNames() error {
	for _, t := range []Type{Service, Route, Consumer, ConsumerGroup, Upstream, Certificate} {
		for _, member := range nameMembers[t] {
			seen := map[string]string{}
			for _, e := range f.byKind[t] {
				text := e.Value.Get(member).Text
				if first, twice := seen[text]; twice && text != "" {
					what := strings.ReplaceAll(string(t), "_", " ")
					return duplicate(e, fmt.Sprintf("The %s of this %s is already used %s. Change one of them, "+
						"because Kong rejects duplicates.", member, what, first))
				}
				seen[text] = e.place()
			}
		}
	}
	return nil
}

// place returns where an entity is, for people.
func (e *Entity) place() string {
	if e.File == "" {
		return fmt.Sprintf("on line %d", e.Line)
	}
	return fmt.Sprintf("on line %d of %s", e.Line, e.File)
}

// of returns what an entity refers to: as a name, an ID or an object with either, or by being nested in it.
func (n names) of(e *Entity, t Type, member string) *Entity {
	if e.Type == t {
		return nil
	}
	if e.Parent != nil && e.Parent.Type == t {
		return e.Parent
	}
	v := e.Value.Get(member)
	if !v.IsSet() || v.Kind == configfile.List {
		return nil
	}
	candidates := []string{v.Text}
	if v.Kind == configfile.Object {
		candidates = nil
		for _, name := range nameMembers[t] {
			candidates = append(candidates, v.Get(name).Text)
		}
	}
	for _, one := range candidates {
		if found := n[t][one]; found != nil && one != "" {
			return found
		}
	}
	e.Missing = append(e.Missing, missing(t))
	return nil
}

// connect lists an entity at those that it refers to.
func (f *File) connect(e *Entity) {
	switch {
	case e.Type == Plugin:
		if e.Service == nil && e.Route == nil && e.Consumer == nil && e.Group == nil && len(e.Missing) == 0 {
			f.globals = append(f.globals, e)
		}
		for _, scope := range []*Entity{e.Service, e.Route, e.Consumer, e.Group} {
			if scope != nil {
				scope.Plugins = append(scope.Plugins, e)
			}
		}
	case e.Type == Route && e.Service != nil:
		e.Service.Routes = append(e.Service.Routes, e)
	case e.Type == Target && e.Upstream != nil:
		e.Upstream.Targets = append(e.Upstream.Targets, e)
	case e.Type == SNI && e.Certificate != nil:
		e.Certificate.SNIs = append(e.Certificate.SNIs, e)
	case e.Type == ACL && e.Consumer != nil:
		e.Consumer.ACLs = append(e.Consumer.ACLs, e)
	case e.Consumer != nil:
		e.Consumer.Credentials = append(e.Consumer.Credentials, e)
	}
}
