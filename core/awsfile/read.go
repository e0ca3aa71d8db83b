package awsfile

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"postern/core/configfile"
	"postern/core/filelimits"
)

// Kind is the kind of an entity.
type Kind string

// The kinds of entities.
const (
	KindAPI        Kind = "api"
	KindOperation  Kind = "operation"
	KindAuthorizer Kind = "authorizer"
	KindKeyScheme  Kind = "key_scheme" // of exports whose operations require API keys
	KindPolicy     Kind = "resource_policy"
	KindEndpoint   Kind = "endpoint"
	KindCORS       Kind = "cors"
	KindValidator  Kind = "validator"
	KindResponse   Kind = "gateway_response"
	KindModel      Kind = "model"
	KindSetting    Kind = "setting" // any other extension of an API
	KindStage      Kind = "stage"
	KindMapping    Kind = "mapping" // a base path of a custom domain name
	KindPlan       Kind = "usage_plan"
	KindKey        Kind = "api_key"
	KindPlanKey    Kind = "usage_plan_key"
)

// Entity is one thing that a file configures.
type Entity struct {
	Kind    Kind
	Name    string // for people; never a credential
	Pointer string // into the file, or NAME#POINTER of several files
	Line    int
	Value   configfile.Value

	Unfilled []string // the fields that are read and have a placeholder without a value
}

// Export is the export of a stage of an API.
type Export struct {
	*Entity
	ID         string // "" if the export has custom domain names only
	Title      string
	Stage      string // "" for $default
	Hosts      []Host
	IsHTTP     bool // it is an HTTP API
	Operations []*Operation
	Schemes    map[string]*Entity // by their names: authorizers and key schemes
	Validators map[string]*Entity
	Validator  string // name of the validator of operations that name none
	Policy     *Entity
	Endpoints  []*Entity
	CORS       *Entity
	KeySource  string // HEADER or AUTHORIZER

	IsPrivate bool // it has the host name of a VPC endpoint

	// HasAuthorizers reports whether the export was made with authorizers, as far as that can be told.
	HasAuthorizers bool

	root    configfile.Value
	pointer string // of the file
}

// Host is a custom domain name of an API.
type Host struct {
	Name   string
	Prefix string // of its paths, such as /v1; "" for all
}

// Operation is a method of a path.
type Operation struct {
	*Entity
	Method      string // uppercase; ANY for all
	Path        string // as in the export, such as /pets/{id} or /a/{proxy+}; /$default for the default route
	Integration configfile.Value
	Security    []string // names of schemes
	Auth        string   // of x-amazon-apigateway-auth, such as AWS_IAM
	Unreadable  bool     // its requirements can't be determined
	Validator   string
	Parameters  []configfile.Value // also those of its path

	UnfilledTarget []string // the fields of Integration that are read and have a placeholder without a value
}

// Files are the entities of all files of an import.
type Files struct {
	Exports      []*Export
	Stages       []*Entity
	Mappings     []*Entity
	Plans        []*Entity
	Keys         []*Entity
	PlanKeys     []*PlanKey
	Entities     []*Entity // in the order of the files
	Placeholders []configfile.Placeholder
}

// PlanKey is a key of a usage plan.
type PlanKey struct {
	*Entity
	Plan string // ID; "" if it isn't known

	file string
}

var (
	extension = regexp.MustCompile(`["']?x-amazon-apigateway-[a-z-]+["']?\s*:|` +
		`\.execute-api\.[a-z0-9-]+\.(amazonaws\.com|api\.aws)`)
	described = regexp.MustCompile(`(?m)(^|[{,]\s*)["']?(openapi|swagger)["']?\s*:`)
	answers   = regexp.MustCompile(`(?m)["']?(items|item|Items)["']?\s*:`)
	answerOf  = regexp.MustCompile(`["']?(stageKeys|apiStages|stageName|StageName|restApiId)["']?\s*:|` +
		`["']API_KEY["']`)
	executeAPI = regexp.MustCompile(`^([a-z0-9]+)(-vpce-[a-z0-9]+)?\.execute-api\.[a-z0-9-]+\.` +
		`(amazonaws\.com(\.cn)?|api\.aws)$`)
	amazonHost = regexp.MustCompile(`(?i)\.(amazonaws\.com(\.cn)?|api\.aws)(:|$)`)
)

// Recognizes reports whether a file looks like one of AWS API Gateway.
func Recognizes(text []byte) bool {
	return described.Match(text) && extension.Match(text) || answers.Match(text) && answerOf.Match(text)
}

// Command is how a REST API is exported.
const Command = `aws apigateway get-export --rest-api-id API --stage-name STAGE --export-type oas30 ` +
	`--parameters '{"extensions":"apigateway,authorizers"}' api.json`

// HashKeys replaces the values of API keys, apart from those with placeholders.
func HashKeys(d *configfile.Document, hash func(text string) configfile.Key) {
	items, _ := listOf(d.Root())
	if items == nil {
		return
	}
	for i := range items.Items {
		for n := range items.Items[i].Members {
			if m := &items.Items[i].Members[n]; m.Name == "value" {
				d.Hash(&m.Value, hash)
			}
		}
	}
}

// listOf returns the list of an answer and its name, nil for an export.
func listOf(root *configfile.Value) (items *configfile.Value, name string) {
	for i := range root.Members {
		m := &root.Members[i]
		if slices.Contains([]string{"items", "item", "Items"}, m.Name) && m.Value.Kind == configfile.List {
			return &m.Value, m.Name
		}
	}
	return nil, ""
}

// Read returns the entities of all documents. set has the values of placeholders by their names; stage variables have
// those of get-stages unless set has others. Errors are *configfile.Error.
func Read(documents []*configfile.Document, set map[string]string) (*Files, error) {
	f := &Files{}
	var variables []stageVariables
	apis := map[string]map[string]bool{} // IDs by stage
	for _, d := range documents {
		root, _, err := d.Filled(set)
		if err != nil {
			return nil, err
		}
		if items, _ := listOf(&root); items != nil {
			variables = append(variables, readVariables(d.Name, items.Items)...)
		}
		if stage := stageOf(root); root.Get("paths").IsSet() {
			if apis[stage] == nil {
				apis[stage] = map[string]bool{}
			}
			apis[stage][idOf(root)] = true
		}
	}
	for _, d := range documents {
		values := set
		if root := d.Root(); root.Get("paths").IsSet() {
			stage := stageOf(*root)
			values = withVariables(set, variablesOf(variables, stage, idOf(*root), len(apis[stage]) > 1))
		}
		root, placeholders, err := d.Filled(values)
		if err != nil {
			return nil, err
		}
		f.Placeholders = configfile.Join(f.Placeholders, placeholders)
		pointer := ""
		if d.Name != "" {
			pointer = d.Name + "#"
		}
		read := len(f.Entities)
		if root.Get("paths").IsSet() {
			err = f.readExport(root, pointer)
		} else {
			err = f.readAnswer(root, pointer, d.Name)
		}
		if err == nil && int64(len(f.Entities)) > filelimits.KongEntities.Most {
			err = configfile.Beyond(filelimits.KongEntities)
		}
		if err == nil {
			err = checkFields(f.Entities[read:])
		}
		if err != nil {
			return nil, configfile.In(d.Name, err)
		}
	}
	f.matchPlanKeys()
	return f, nil
}

// stageVariables are the variables of a stage in an answer of get-stages, which doesn't name the API.
type stageVariables struct {
	file, stage string
	values      map[string]string
}

func readVariables(file string, stages []configfile.Value) (all []stageVariables) {
	for _, stage := range stages {
		one := stageVariables{
			file: file, stage: cmp.Or(stage.Get("stageName").Text, stage.Get("StageName").Text),
			values: map[string]string{},
		}
		variables := stage.Get("variables")
		if !variables.IsSet() {
			variables = stage.Get("StageVariables")
		}
		for _, m := range variables.Members {
			one.values["stageVariables."+m.Name] = m.Value.Text
		}
		if one.stage != "" {
			all = append(all, one)
		}
	}
	return all
}

// variablesOf returns the variables of a stage of an API. The name of a file can have the ID of its API. Otherwise, and
// if several APIs have such a stage, whose variables are meant isn't known, and there are none.
func variablesOf(all []stageVariables, stage, id string, several bool) map[string]string {
	var own, others []stageVariables
	for _, one := range all {
		switch {
		case one.stage != stage:
		case id != "" && strings.Contains(one.file, id):
			own = append(own, one)
		default:
			others = append(others, one)
		}
	}
	if len(own) == 0 && !several {
		own = others
	}
	for _, one := range own {
		if !maps.Equal(one.values, own[0].values) {
			return nil
		}
	}
	if len(own) == 0 {
		return nil
	}
	return own[0].values
}

func withVariables(set, variables map[string]string) map[string]string {
	out := make(map[string]string, len(set)+len(variables))
	maps.Copy(out, variables)
	maps.Copy(out, set)
	return out
}

// add adds an entity.
func (f *Files) add(kind Kind, name, pointer string, v configfile.Value) *Entity {
	e := &Entity{Kind: kind, Name: name, Pointer: pointer, Line: v.Line, Value: v}
	f.Entities = append(f.Entities, e)
	return e
}

// readAnswer reads the answer of a command that lists things.
func (f *Files) readAnswer(root configfile.Value, pointer, file string) error {
	items, list := listOf(&root)
	if items == nil {
		return configfile.Refuse(root.Line, "This isn't an export of an API or the output of get-api-keys, "+
			"get-usage-plans, get-usage-plan-keys, get-stages or get-base-path-mappings.")
	}
	for i, v := range items.Items {
		at := pointer + "/" + list + "/" + strconv.Itoa(i)
		text := func(names ...string) string {
			for _, name := range names {
				if found := v.Get(name).Text; found != "" {
					return found
				}
			}
			return at
		}
		has := func(name string) bool { return v.Get(name).IsSet() }
		switch {
		case has("apiStages") || has("throttle") || has("quota"):
			f.Plans = append(f.Plans, f.add(KindPlan, text("name", "id"), at, v))
		case v.Get("type").Text == "API_KEY":
			plan := cmp.Or(v.Get("usagePlanId").Text, root.Get("usagePlanId").Text)
			e := f.add(KindPlanKey, text("name", "id"), at, v)
			f.PlanKeys = append(f.PlanKeys, &PlanKey{Entity: e, Plan: plan, file: file})
		case has("stageName") || has("StageName"):
			f.Stages = append(f.Stages, f.add(KindStage, text("stageName", "StageName"), at, v))
		case has("restApiId") && has("stage"):
			f.Mappings = append(f.Mappings, f.add(KindMapping, text("basePath"), at, v))
		case has("value") || has("enabled"):
			f.Keys = append(f.Keys, f.add(KindKey, text("name", "id"), at, v))
		default:
			f.add(KindSetting, text("name", "id"), at, v)
		}
	}
	return nil
}

// matchPlanKeys finds the usage plans of keys. The answer of get-usage-plan-keys doesn't name its plan: the name of the
// file can, or there is only one plan and one such file. A key in the wrong plan could make calls that AWS refuses.
func (f *Files) matchPlanKeys() {
	ids := map[string]bool{}
	for _, plan := range f.Plans {
		ids[plan.Value.Get("id").Text] = true
	}
	delete(ids, "")
	files := map[string]string{} // IDs of plans by the names of files
	for _, member := range f.PlanKeys {
		if _, known := files[member.file]; !known {
			files[member.file] = idIn(member.file, ids)
		}
	}
	for _, member := range f.PlanKeys {
		switch {
		case ids[member.Plan]:
		case member.Plan != "": // of a plan that the files don't have
			member.Plan = ""
		case files[member.file] == "" && len(files) == 1 && len(ids) == 1:
			for id := range ids {
				member.Plan = id
			}
		default:
			member.Plan = files[member.file]
		}
	}
}

// idIn returns the ID that the name of a file has, "" if it doesn't have exactly one.
func idIn(file string, ids map[string]bool) (found string) {
	for id := range ids {
		switch {
		case !strings.Contains(file, id):
		case found != "":
			return ""
		default:
			found = id
		}
	}
	return found
}

// Escape escapes a name in a JSON Pointer (RFC 6901).
func Escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
