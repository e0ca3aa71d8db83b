package movein

import "postern/core/awsfile"

var awsTitles = map[awsfile.Kind]string{
	awsfile.KindAPI: "APIs", awsfile.KindOperation: "Operations", awsfile.KindAuthorizer: "Authorizers",
	awsfile.KindKeyScheme: "API key requirements", awsfile.KindPolicy: "Resource policies",
	awsfile.KindEndpoint: "Endpoint settings", awsfile.KindCORS: "CORS", awsfile.KindValidator: "Request validators",
	awsfile.KindResponse: "Gateway responses", awsfile.KindModel: "Models", awsfile.KindSetting: "Other settings",
	awsfile.KindStage: "Stages", awsfile.KindMapping: "Base path mappings", awsfile.KindPlan: "Usage plans",
	awsfile.KindKey: "API keys", awsfile.KindPlanKey: "Keys of usage plans",
}

const (
	openOperation = "Open the operation with --open if it's safe to accept calls without this check."
	plansDo       = "Import the API together with the output of get-usage-plans and get-usage-plan-keys. Imports " +
		"don't make frozen keys valid, so if you have already run this import, undo it first."
)

// awsFates are the fates of entities of AWS API Gateway.
var awsFates = map[string]fate{
	"api": {exact, "It becomes a project, and its stage an environment.", ""},
	"api.no_host": {
		lossy,
		"It has no custom domain name. Callers must switch to the project's gateway URL, because execute-api host " +
			"names belong to AWS.",
		"Name the host names that callers will use with --host.",
	},
	"api.unserved_host": {
		lossy,
		"One of its custom domain names can't be a custom domain here, because it is a name of this installation.",
		hostDo,
	},
	"api.host_taken": {
		lossy,
		"Another API or stage of this import has the same host name and path, so callers reach only that one there.",
		"Add the output of get-base-path-mappings, or import the stages one by one with different values of --host.",
	},
	"api.other_cors": {
		lossy,
		"Another stage of the API has different CORS settings. A project has one set of them, so those of the stage " +
			"that comes first in the files apply.",
		"Import the stages one by one, with different values of --name.",
	},
	"api.no_operations": {skipped, "None of its operations can be imported.", "See the reasons listed for them."},

	"api.repeated": {
		skipped, "Another file has the same API and stage.", "Leave out the older file.",
	},

	"operation.repeated": {skipped, "Another file has the same API and stage.", "Leave out the older file."},
	"operation.unreachable": {
		exact, "Each method of its path has its own operation, so this one never gets a call.", "",
	},
	"operation.same": {
		approximate,
		"Another operation's path differs only in a trailing slash or the names of parameters. Both are imported as " +
			"one.",
		"",
	},
	"operation.twin": {
		skipped,
		"Another operation's path differs only in a trailing slash or the names of parameters, but that operation " +
			"isn't imported in the same way. Calls to both are refused.",
		"Give both the same target and the same requirements.",
	},
	"operation.exception": {
		skipped,
		"Its path also matches the path of another operation, which AWS treats differently and which rules can't name.",
		"Rename the path of the other operation, or list the paths of this operation individually.",
	},
	"operation.slash": {
		approximate,
		"Either its URL or its path has a trailing slash, but not both. Postern forwards the path of the call, with " +
			"or without the slash.",
		"",
	},
	"operation.shadow": {
		approximate,
		"Calls whose path begins like the paths of operations with another target are sent to the version of those " +
			"operations. If no operation of that version matches, they get 403.",
		"Use the same target for both.",
	},
	"operation.responses": {
		lossy, "AWS changes its responses. Postern returns them unchanged.", "Change them in the upstream.",
	},
	"operation.no_plans": {
		approximate,
		"The files don't contain usage plans, so only members of the group aws-keys may call it. The group has no " +
			"members yet.",
		plansDo,
	},
	"operation.unknown_api": {
		lossy,
		"It requires a key of a usage plan, but the export doesn't contain the ID of its API, so its usage plans " +
			"aren't known. Calls get 403.",
		"Add the server https://ID.execute-api.REGION.amazonaws.com/STAGE to the export.",
	},
	"operation": {exact, "Its calls are forwarded to the same URL. Anyone may call it, as on AWS.", ""},
	"operation.key": {
		approximate,
		"Its calls require a key of one of its usage plans, and are forwarded to the same URL. AWS also forwards the " +
			"key in the X-API-Key header; Postern doesn't. Calls without a valid key get 401 or 403; AWS always " +
			"sends 403.",
		"",
	},
	"operation.mixed": {
		approximate,
		"Anyone may call it, as on AWS. Other operations of its version require a key, so a call with an invalid key " +
			"gets 401. AWS ignores the key.",
		"",
	},
	"operation.opened": {
		lossy, "It is open because you used --open. Checks that can't be imported don't apply.", "",
	},
	"operation.closed": {
		skipped,
		"It stays closed: AWS checks its calls in a way that can't be imported. Calls get 401 or 403.",
		openOperation,
	},
	"operation.no_integration": {skipped, "The export doesn't contain its target.", "Export the API again: " +
		awsfile.Command},
	"operation.mock": {
		skipped,
		"AWS answers its calls itself (mock). Postern only forwards calls.",
		"Answer these calls in an upstream.",
	},
	"operation.aws": {
		skipped,
		"It calls Lambda or another AWS service, which requires AWS credentials.",
		"Give the function a URL, and set it as the target of an HTTP integration.",
	},
	"operation.vpc_link": {
		skipped,
		"Its target is reached through a VPC link.",
		"Run Postern where it can reach the target, and set the target's URL in the export.",
	},
	"operation.default_route": {
		skipped,
		"The default route sends every path to one URL. Postern keeps the path of a call.",
		"Add a route for {proxy+} to the API.",
	},
	"operation.method": {
		skipped, "AWS calls the target with a different method. Postern keeps the method of a call.",
		"Have callers use the target's method.",
	},
	"operation.parameters": {
		skipped,
		"AWS sets the path of the target's URL from something other than the path of the call.",
		"Have callers use the target's path.",
	},
	"operation.uri": {
		skipped,
		"The path of its URL isn't a fixed beginning followed by the path of the call.",
		"Have the target accept the path of the call.",
	},
	"operation.placeholder": {
		skipped,
		"Its URL has a stage variable or placeholder without a value.",
		"Add the output of get-stages, or use --set stageVariables.NAME=VALUE.",
	},
	"operation.overlap": {
		skipped,
		"Another operation whose path begins the same way has a different target, so calls can't be distinguished.",
		"Use the same target for both.",
	},
	"operation.custom": {
		lossy,
		"It isn't a proxy integration. Postern forwards calls and responses unchanged, without mapping templates.",
		"Have the target accept the calls unchanged.",
	},
	"operation.timeout": {
		approximate,
		"It has a shorter timeout than other operations with the same target. Here, the longest timeout applies to " +
			"all of them.",
		"",
	},
	"operation.mapping": {
		lossy,
		"AWS sets headers or query parameters that Postern doesn't set.",
		"Set them in the upstream, or with transforms.",
	},
	"operation.unverified": {
		approximate,
		"AWS doesn't verify the target's certificate, but Postern does. If a public authority didn't issue it, calls " +
			"get 502.",
		"Set the authority in upstream.ca, or accept the target's certificate with --trust HOST.",
	},
	"operation.no_plan": {
		exact, "It requires a key of a usage plan, but no usage plan includes its stage. Calls get 403, as on AWS.", "",
	},
	"operation.preflight": {
		approximate,
		"It answers preflights, so it becomes the project's CORS. Preflights of all paths get the same response, " +
			"with the methods and headers of all paths.",
		"",
	},
	"operation.preflight_skipped": {
		lossy,
		"It answers preflights. The API's paths allow different origins or have no imported operation, so CORS isn't " +
			"set.",
		"Set the project's CORS.",
	},

	"authorizer": {
		skipped,
		"Authorizers aren't imported. The operations that use it stay closed.",
		"Issue API keys to these callers, or accept the tokens of their issuer on the version.",
	},
	"authorizer.unused": {skipped, "No operation uses it.", ""},
	"key_scheme":        {exact, "Keys are sent in the X-API-Key header, as on AWS.", ""},
	"key_scheme.authorizer": {
		skipped, "An authorizer provides the keys. The operations that require them stay closed.", openOperation,
	},
	"resource_policy": {exact, "It allows every call.", ""},
	"resource_policy.closed": {
		skipped,
		"It restricts calls in a way that can't be imported. All operations stay closed.",
		"Open operations with --open, and set the IP rules of their versions.",
	},
	"endpoint": {exact, "It doesn't restrict any calls.", ""},
	"endpoint.private": {
		skipped, "Only VPC endpoints can reach the API. All operations stay closed.",
		"Open operations with --open if your gateway is equally private.",
	},
	"cors": {exact, "It becomes the project's CORS.", ""},
	"cors.origins": {
		lossy, "Origins with an asterisk aren't imported. Their pages can't call the API.", "List them one by one.",
	},
	"cors.exposed": {
		lossy, "Pages can read only the usual response headers instead of all of them.",
		"Set the exposed headers of the project's CORS.",
	},
	"cors.unused":      {skipped, "No operation of its API is imported.", ""},
	"validator.unused": {exact, "It doesn't refuse calls to any operation.", ""},
	"validator.closed": {
		skipped,
		"Postern doesn't validate calls. The operations that it checks stay closed.",
		"Open them with --open if their target validates calls.",
	},
	"gateway_response": {lossy, "Callers get Postern's own errors instead.", ""},
	"model": {
		lossy, "Schemas aren't imported: Postern doesn't validate calls.", "Import the OpenAPI document.",
	},
	"setting":      {lossy, "Postern doesn't have this setting.", unknownDo},
	"stage":        {exact, "It becomes an environment. Its variables are filled into the URLs of targets.", ""},
	"stage.unused": {skipped, "The files don't contain an export of this stage.", "Export the API's stage too."},
	"stage.throttle": {
		lossy, "Its limits for individual methods aren't imported.", "Set the limits of the project.",
	},
	"stage.cache": {lossy, "Postern doesn't cache responses.", "Cache them in the upstream."},
	"stage.client_certificate": {
		lossy, "Its client certificate isn't imported. A target that requires it refuses calls.",
		"Set a different one with postern upstreams certificate set.",
	},
	"stage.web_acl": {
		lossy, "Its web ACL (AWS WAF) isn't imported.", "Put another firewall in front of the gateway.",
	},
	"mapping":        {exact, "It becomes the path prefix of custom domains.", ""},
	"mapping.unused": {skipped, "No API of the import uses it.", "Name its host name with --host."},

	"usage_plan":        {exact, "It becomes a group. The owners of its keys are members, and have its limits.", ""},
	"usage_plan.unused": {skipped, "It doesn't include a stage of an imported API.", ""},
	"usage_plan.rate": {
		approximate,
		"AWS throttles with a token bucket. Here, calls are counted per second, or per minute if the rate is below " +
			"1. Bursts above the rate get 429, and up to twice the rate can pass within a second.",
		"",
	},
	"usage_plan.apis": {
		approximate,
		"AWS counts the calls to all APIs of the plan together. Here, each API is a project that counts separately, " +
			"so a key can make the same number of calls to each of them.",
		"Set smaller limits.",
	},
	"usage_plan.week": {approximate, "Its weekly quota becomes a daily limit of one seventh.", ""},
	"usage_plan.offset": {
		approximate, "The offset of its quota is left out: the first period has the full quota.", "",
	},
	"usage_plan.methods": {lossy, "Its limits for individual methods aren't " +
		"imported.", "Set limits on key types or keys."},

	"api_key":          {exact, "The key keeps working. Only its hash is stored.", ""},
	"api_key.disabled": {exact, "It is disabled, so it is imported frozen. Calls get 403, as on AWS.", ""},
	"api_key.unknown": {
		approximate, "The files don't say whether it is enabled, so it is imported frozen.",
		"Add the output of aws apigateway get-api-keys with --include-values. Imports don't make frozen keys valid, " +
			"so if you have already run this import, undo it first.",
	},
	"api_key.plans": {approximate, "It is in several usage plans. The strictest limits apply.", ""},
	"api_key.zero":  {exact, "Its usage plan allows no calls, so it is imported frozen.", ""},
	"api_key.no_plan": {
		approximate, "The files don't contain a usage plan of the key, so it is imported frozen.", plansDo,
	},
	"api_key.weak_allowed": fates["keyauth_credential.weak_allowed"],
	"api_key.weak":         fates["keyauth_credential.weak"],
	"api_key.placeholder":  fates["keyauth_credential.placeholder"],
	"api_key.unusable":     fates["keyauth_credential.unusable"],
	"api_key.repeated":     {skipped, "Another key in the files has the same value.", "Remove one of them."},
	"api_key.no_key": {
		skipped,
		"The file doesn't contain its value.",
		"Run aws apigateway get-api-keys with --include-values.",
	},
	"usage_plan_key": {exact, "The key's owner becomes a member of the usage plan's group.", ""},
	"usage_plan_key.no_plan": {
		skipped,
		"The output of get-usage-plan-keys doesn't name its usage plan.",
		"Name the file after the ID of the usage plan, such as plan-a1b2c3.json.",
	},
}
