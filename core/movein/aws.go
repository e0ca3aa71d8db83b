package movein

import (
	"cmp"
	"slices"
	"strings"

	"postern/core/awsfile"
	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/policy"
)

// awsPlanner makes the plan of files of AWS API Gateway: a project of each API, with one version for all operations
// that share a target. The rules of a version allow only its operations, and the gateway chooses between them as AWS
// does: the most specific path wins.
type awsPlanner struct {
	files   *awsfile.Files
	options Options
	plan    *Plan
	items   map[*awsfile.Entity]*item
	opened  map[string]bool

	apis     []*api
	projects map[string]int // places in the plan, by the ID or title of an API
	names    taken          // of projects
	versions map[int]taken  // names, by project
	owners   taken
	groups   map[string]string                   // of usage plans, by ID
	planAPIs map[*awsfile.Entity]map[string]bool // sources of the projects that a usage plan is for
	hasGroup map[string]bool                     // names of the groups of the plan
	repeated map[string]bool                     // sources and stages of APIs that were read
	needed   map[string]bool                     // placeholders that something imported has

	addresses map[string][]takenAddress // custom domains by host name and path prefix
}

// takenAddress is who has a custom domain.
type takenAddress struct {
	api     *api
	methods []string
}

// api is an API in one stage.
type api struct {
	*awsfile.Export
	environment string // its name
	hosts       []awsfile.Host
	operations  []*operation
	paths       []*operation        // the first one of each path
	byPath      map[string][]string // methods by path
	groups      []string            // of the usage plans that its keys can be in
	project     int
	hasVersions bool
}

// operation is an operation of an API.
type operation struct {
	*awsfile.Operation
	api     *api
	path    []string // segments
	shape   string   // the same for all paths that match the same calls
	methods []string
	closed  []string // reasons
	skipped bool     // it has no target that can be imported
	isCORS  bool     // it answers preflights
	needs   bool     // an API key
	mixed   bool     // it needs none, but others of its version do
	target  awsTarget
	timeout int // of its target, in ms
}

// isImported reports whether calls to the operation reach its target.
func (o *operation) isImported() bool { return !o.skipped && !o.isCORS && len(o.closed) == 0 }

// The methods of REST APIs.
var awsMethods = []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

// names of the groups that rules of an AWS plan require
const (
	awsClosed = "aws-closed" // without members: rules that require it refuse every call
	awsKeys   = "aws-keys"   // those who may call operations that require a key, if the files don't have usage plans
)

// AWS returns the plan of importing files of AWS API Gateway. It returns an *OptionError for an option that doesn't fit
// them.
func AWS(files *awsfile.Files, o Options) (*Plan, error) {
	o, err := o.normal()
	if err != nil {
		return nil, err
	}
	p := &awsPlanner{
		files: files, options: o, plan: newPlan("aws", awsName, o), items: map[*awsfile.Entity]*item{},
		opened: map[string]bool{}, projects: map[string]int{}, names: taken{}, versions: map[int]taken{},
		owners: taken{}, groups: map[string]string{}, planAPIs: map[*awsfile.Entity]map[string]bool{},
		repeated: map[string]bool{}, hasGroup: map[string]bool{}, needed: map[string]bool{},
		addresses: map[string][]takenAddress{},
	}
	for _, e := range files.Entities {
		p.items[e] = &item{ImportItem: contract.ImportItem{
			Kind: string(e.Kind), Title: awsTitles[e.Kind], Name: e.Name, Pointer: e.Pointer, Line: e.Line,
			Details: []string{},
		}}
	}
	p.planGroups()
	for _, x := range files.Exports {
		p.readAPI(x)
	}
	hosts := int64(0)
	for _, a := range p.apis {
		hosts += int64(len(a.hosts))
	}
	if hosts > filelimits.KongDomains.Most {
		return nil, ErrTooMany
	}
	for _, a := range p.apis {
		p.build(a)
	}
	for _, a := range p.apis {
		p.closeNested(a)
	}
	p.planKeys()
	p.others()
	p.notes()
	if err := o.check(p.opened, p.httpsHosts()); err != nil {
		return nil, err
	}
	items := make([]*item, 0, len(files.Entities))
	for _, e := range files.Entities {
		items = append(items, p.items[e])
	}
	placeholders := slices.DeleteFunc(slices.Clone(files.Placeholders), func(one placeholder) bool {
		return !p.needed[one.Name]
	})
	p.plan.finish(items, placeholders)
	return p.plan, nil
}

// awsName is the name of an import that has no other one.
const awsName = "aws"

func (p *awsPlanner) say(e *awsfile.Entity, code string, details ...string) {
	if item := p.items[e]; item != nil {
		item.say(code, details...)
	}
}

// need lists the placeholders of a value as ones that something imported has.
func (p *awsPlanner) need(v configfile.Value) {
	for _, name := range v.Unfilled() {
		p.needed[name] = true
	}
}

func (p *awsPlanner) use(e *awsfile.Entity) {
	if item := p.items[e]; item != nil {
		item.used = true
	}
}

// readAPI reads an API, and what becomes of each operation.
func (p *awsPlanner) readAPI(x *awsfile.Export) {
	a := &api{Export: x, environment: environment}
	if stage := contract.Slug(x.Stage); contract.IsName(stage) {
		a.environment = stage
	}
	p.hostsOf(a)
	a.groups = p.groupsOf(a)
	if p.repeated[a.source()+"\x00"+x.Stage] {
		p.say(a.Entity, "api.repeated")
		for _, one := range x.Operations {
			p.say(one.Entity, "operation.repeated")
		}
		return
	}
	p.repeated[a.source()+"\x00"+x.Stage] = true
	openAll := p.options.matchOpen(p.opened, x.Name, x.ID, x.Pointer)
	for _, one := range x.Operations {
		o := &operation{Operation: one, api: a, path: segmentsOf(one.Path)}
		o.shape = policy.RuleShape(rulePath(o.path))
		a.operations = append(a.operations, o)
	}
	p.settleMethods(a)
	for _, o := range a.operations {
		p.readAccess(o)
		if !o.skipped {
			p.readTarget(o)
		}
		opened := p.options.matchOpen(p.opened, o.Name, o.Value.Get("operationId").Text, o.Pointer) || openAll
		if len(o.closed) > 0 && !o.skipped && !o.isCORS {
			if opened {
				o.closed = nil
				p.say(o.Entity, "operation.opened")
			} else {
				p.say(o.Entity, "operation.closed")
				p.plan.Closed = append(p.plan.Closed, contract.ClosedEntity{
					Kind: "operation", Name: o.Name, Pointer: o.Pointer, Line: o.Line, Reasons: o.closed,
					Open: "--open " + quoted(p.openName(o)),
				})
			}
		}
	}
	p.settleTwins(a)
	p.settleExceptions(a)
	p.apis = append(p.apis, a)
}

// openName returns the name with which an option opens this operation only: its pointer, if several APIs have an
// operation with its name.
func (p *awsPlanner) openName(o *operation) string {
	for _, x := range p.files.Exports {
		if x != o.api.Export && slices.ContainsFunc(x.Operations, func(one *awsfile.Operation) bool {
			return one.Name == o.Name
		}) {
			return o.Pointer
		}
	}
	return o.Name
}

// source identifies an API in later imports.
func (a *api) source() string { return cmp.Or(a.ID, a.Title, a.Name) }

// settleMethods sets the methods of operations: that for any method doesn't have those with an operation of their own.
func (p *awsPlanner) settleMethods(a *api) {
	own := map[string][]string{} // methods by path
	for _, o := range a.operations {
		if o.Method != "ANY" {
			own[o.shape] = append(own[o.shape], o.Method)
		}
	}
	a.byPath = map[string][]string{}
	for _, o := range a.operations {
		o.methods = []string{o.Method}
		if o.Method == "ANY" {
			o.methods = slices.DeleteFunc(slices.Clone(awsMethods), func(method string) bool {
				return slices.Contains(own[o.shape], method)
			})
		}
		if _, known := a.byPath[o.shape]; !known {
			a.paths = append(a.paths, o)
		}
		a.byPath[o.shape] = append(a.byPath[o.shape], o.methods...)
		if len(o.methods) == 0 {
			o.skipped = true
			p.say(o.Entity, "operation.unreachable")
		}
	}
}

// settleTwins leaves out operations with the same method and path, apart from a slash at its end or names of
// parameters: rules don't tell them apart. One stays if all are imported in the same way.
func (p *awsPlanner) settleTwins(a *api) {
	type call struct{ shape, method string }
	byCall := map[call][]*operation{}
	for _, o := range a.operations {
		byCall[call{o.shape, o.Method}] = append(byCall[call{o.shape, o.Method}], o)
	}
	for _, twins := range byCall {
		same := !slices.ContainsFunc(twins, func(o *operation) bool {
			return !o.isImported() || o.needs != twins[0].needs || o.target != twins[0].target
		})
		for i, o := range twins {
			if len(twins) > 1 && (i > 0 || !same) && !o.skipped {
				o.skipped = true
				p.say(o.Entity, map[bool]string{true: "operation.same", false: "operation.twin"}[same])
			}
		}
	}
}

// settleExceptions leaves out operations whose calls include those of an operation that AWS treats differently, and
// whose path can't be that of a rule which refuses them.
func (p *awsPlanner) settleExceptions(a *api) {
	for _, exception := range a.operations {
		if isRulePath(exception.path) || exception.isDefault() {
			continue
		}
		for _, o := range a.operations {
			if o.isImported() && o.reaches(exception) {
				o.skipped = true
				p.say(o.Entity, "operation.exception", exception.Name)
			}
		}
	}
}

// isDefault reports whether an operation is the default route of an HTTP API, which takes the calls of no other.
func (o *operation) isDefault() bool { return len(o.path) == 1 && o.path[0] == "$default" }

// hostsOf sets the host names of an API. Base paths of the host names in options are in the answer of
// get-base-path-mappings.
func (p *awsPlanner) hostsOf(a *api) {
	for _, host := range a.Hosts {
		if p.options.CanServe(host.Name) {
			a.hosts = append(a.hosts, host)
		} else {
			p.say(a.Entity, "api.unserved_host", host.Name)
		}
	}
	prefixes := []string{}
	for _, e := range p.files.Mappings {
		if e.Value.Get("restApiId").Text == a.ID && e.Value.Get("stage").Text == a.Stage {
			p.use(e)
			base := strings.Trim(e.Value.Get("basePath").Text, "/")
			if base != "" && base != "(none)" {
				base = "/" + base
			} else {
				base = ""
			}
			prefixes = append(prefixes, base)
		}
	}
	if len(p.files.Mappings) == 0 {
		prefixes = []string{""}
	}
	known := map[awsfile.Host]bool{}
	for _, host := range a.hosts {
		known[host] = true
	}
	for _, name := range p.options.Hosts {
		for _, prefix := range prefixes {
			host := awsfile.Host{Name: name, Prefix: prefix}
			if isPrefix(prefix) && !known[host] {
				known[host] = true
				a.hosts = append(a.hosts, host)
			}
		}
	}
}

// segmentsOf returns the segments of a path: none of the root.
func segmentsOf(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// isParameter reports whether a segment matches several texts.
func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

// isGreedy reports whether a segment matches one or more segments.
func isGreedy(segment string) bool { return strings.HasSuffix(segment, "+}") }

// covers reports whether all calls to a path can also match another path.
func covers(path, other []string) bool {
	for i, segment := range path {
		switch {
		case i >= len(other):
			return false
		case isGreedy(segment):
			return true
		case isGreedy(other[i]), !isParameter(segment) && segment != other[i]:
			return false
		}
	}
	return len(path) == len(other)
}

// rulePath returns a path as rules have it.
func rulePath(path []string) string {
	var out strings.Builder
	for _, segment := range path {
		if isGreedy(segment) { // which doesn't match the path without it
			segment = strings.TrimSuffix(segment, "+}") + "}" + everything
		}
		out.WriteString("/" + segment)
	}
	return cmp.Or(out.String(), "/")
}

// overlaps reports whether some calls match both paths.
func overlaps(path, other []string) bool {
	for i := 0; ; i++ {
		switch {
		case i >= len(path) || i >= len(other):
			return len(path) == len(other)
		case isGreedy(path[i]) || isGreedy(other[i]):
			return true
		case !isParameter(path[i]) && !isParameter(other[i]) && path[i] != other[i]:
			return false
		}
	}
}

// reaches reports whether the rules for an operation can let calls through that are another one's.
func (o *operation) reaches(other *operation) bool {
	return o.shape == other.shape || overlaps(o.path, other.path) && !covers(other.path, o.path)
}

// notes adds the items that apply to all files.
func (p *awsPlanner) notes() {
	note := func(code, detail string) {
		p.plan.Notes = append(p.plan.Notes, contract.Warning{Code: code, Detail: detail})
	}
	if len(p.plan.Projects) == 0 {
		return
	}
	note("refusals", "Calls with paths or methods that an API doesn't have get 401 or 403 from Postern. On AWS, they "+
		"get 403 or 404.")
	if p.options.RetryOnTimeout {
		note("retry_on_timeout", "AWS doesn't retry calls, so `retry_on_timeout` has no effect on this import.")
	}
	note("outside_export", "An export doesn't contain web ACLs (AWS WAF), client certificates of custom domain "+
		"names, caches or stage throttling. Check whether the API uses any of them before you switch.")
	if slices.ContainsFunc(p.apis, func(a *api) bool { return !a.IsHTTP && a.Policy == nil && len(a.Endpoints) == 0 }) {
		note("resource_policy", "The export of an API contains neither a resource policy nor endpoint settings. If "+
			"you exported it without extensions=apigateway, export it again: "+awsfile.Command)
	}
	if slices.ContainsFunc(p.plan.Owners, func(o contract.PlannedOwner) bool { return len(o.Limits) > 0 }) {
		note("limits_per_project", "Limits count each project's calls separately. All counts start at zero "+
			"after the move.")
	}
}

// others settles the entities that aren't operations or keys.
func (p *awsPlanner) others() {
	for _, e := range p.files.Entities {
		item := p.items[e]
		if len(item.Codes) > 0 {
			continue
		}
		switch e.Kind {
		case awsfile.KindAuthorizer, awsfile.KindValidator, awsfile.KindMapping, awsfile.KindStage,
			awsfile.KindPlan, awsfile.KindCORS:
			if !item.used {
				item.say(string(e.Kind) + ".unused")
			}
		case awsfile.KindPolicy, awsfile.KindEndpoint, awsfile.KindAPI, awsfile.KindOperation, awsfile.KindKeyScheme,
			awsfile.KindResponse, awsfile.KindModel, awsfile.KindSetting, awsfile.KindKey, awsfile.KindPlanKey:
		}
	}
	for e, apis := range p.planAPIs {
		if len(apis) > 1 && (e.Value.Get("throttle").IsSet() || e.Value.Get("quota").IsSet()) {
			p.say(e, "usage_plan.apis")
		}
	}
	for _, e := range p.files.Stages {
		v := e.Value
		for _, name := range []string{"methodSettings", "DefaultRouteSettings", "RouteSettings"} {
			if hasThrottle(v.Get(name)) {
				p.say(e, "stage.throttle")
			}
		}
		if v.Get("cacheClusterEnabled").Bool(false) {
			p.say(e, "stage.cache")
		}
		if v.Get("clientCertificateId").IsSet() {
			p.say(e, "stage.client_certificate")
		}
		if v.Get("webAclArn").IsSet() {
			p.say(e, "stage.web_acl")
		}
	}
}

// addClosedGroup adds the group without members, once.
func (p *awsPlanner) addClosedGroup() {
	p.addGroup(awsClosed, "No members, so rules that require this group refuse every call")
}

func (p *awsPlanner) addGroup(name, title string) {
	if !p.hasGroup[name] {
		p.hasGroup[name] = true
		p.plan.Groups = append(p.plan.Groups, contract.NewGroup{Name: name, DisplayName: title})
	}
}

// isRulePath reports whether rules can have a path.
func isRulePath(path []string) bool { return policy.CheckRulePath(rulePath(path)) == nil }
