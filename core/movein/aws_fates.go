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
	plansDo       = "Import the API again together with the output of get-usage-plans and get-usage-plan-keys."
)

// awsFates are the fates of entities of AWS API Gateway.
var awsFates = map[string]fate{
	"api": {exact, "It becomes a project, and its stage an environment.", ""},
	"api.no_host": {
		lossy,
		"It has no custom domain name. Callers have to switch to the project's gateway URL, since the names of " +
			"execute-api belong to AWS.",
		"Name the host names that callers will use with --host.",
	},
	"api.unserved_host": {
		lossy,
		"One of its custom domain names can't be a custom domain here, because it is a name of this installation.",
		hostDo,
	},
	"api.host_taken": {
		lossy,
		"Another API or stage of this import has the same host name and path, so only that one is reached there.",
		"Add the output of get-base-path-mappings, or import the stages one by one with different values of --host.",
	},
	"api.no_operations": {skipped, "None of its operations can be imported.", "See the reasons listed for them."},

	"operation": {exact, "Its calls are forwarded to the same URL. Anyone may call it, as on AWS.", ""},
	"operation.key": {
		approximate,
		"Its calls need a key of one of its usage plans, and are forwarded to the same URL. AWS also forwards the " +
			"key in the X-API-Key header, and Postern doesn't. Calls without a valid key get 401 or 403, and 403 on " +
			"AWS.",
		"",
	},
	"operation.mixed": {
		approximate,
		"Anyone may call it, as on AWS. Other operations of its version need a key, so a call with an invalid key " +
			"gets 401, and AWS ignores it.",
		"",
	},
	"operation.opened": {
		lossy, "It is open because you used --open, without what can't be imported.", "",
	},
	"operation.closed": {
		skipped,
		"It stays closed: AWS checks its calls in a way that can't be imported. Calls get 401 or 403.",
		openOperation,
	},
	"operation.no_integration": {skipped, "The export doesn't have its target.", "Export the API again: " +
		awsfile.Command},
	"operation.mock": {
		skipped,
		"AWS answers its calls itself (mock). Postern only forwards calls.",
		"Answer these calls in an upstream.",
	},
	"operation.aws": {
		skipped,
		"It calls Lambda or another service of AWS, which needs AWS credentials.",
		"Give the function a URL, and set it as the target of an HTTP integration.",
	},
	"operation.vpc_link": {
		skipped,
		"Its target is reached by a VPC link.",
		"Run Postern where it reaches the target, and set its URL in the export.",
	},
	"operation.default_route": {
		skipped,
		"The default route sends every path to one URL. Postern keeps the path of a call.",
		"Add a route for {proxy+} to the API.",
	},
	"operation.method": {
		skipped, "AWS calls the target with another method. Postern keeps the method of a call.",
		"Let callers use the method of the target.",
	},
	"operation.parameters": {
		skipped,
		"AWS sets the path of the target's URL from something other than the path of the call.",
		"Let callers use the path of the target.",
	},
	"operation.uri": {
		skipped,
		"The path of its URL isn't a fixed beginning followed by the path of the call.",
		"Let the target accept the path of the call.",
	},
	"operation.placeholder": {
		skipped,
		"Its URL has a stage variable or placeholder without a value.",
		"Add the output of get-stages, or use --set stageVariables.NAME=VALUE.",
	},
	"operation.overlap": {
		skipped,
		"Another operation with the same beginning of its path has another target, so calls can't be told apart.",
		"Use one target for both.",
	},
	"operation.custom": {
		lossy,
		"It isn't a proxy integration. Postern forwards calls and responses unchanged, without mapping templates.",
		"Let the target accept the calls as they are.",
	},
	"operation.timeout": {
		approximate,
		"It has a shorter timeout than other operations with the same target. Here the longest one applies to all.",
		"",
	},
	"operation.mapping": {
		lossy,
		"AWS sets headers or query parameters that Postern doesn't set.",
		"Set them in the upstream, or with transforms.",
	},
	"operation.unverified": {
		approximate,
		"AWS doesn't verify the target's certificate, and Postern does. If a public authority didn't issue it, calls " +
			"get 502.",
		"Set the authority in upstream.ca, or take the target's certificate with --trust HOST.",
	},
	"operation.no_plan": {
		exact, "It needs a key of a usage plan, and no usage plan has its stage. Calls get 403, as on AWS.", "",
	},
	"operation.preflight": {
		approximate,
		"It answers preflights, which becomes the project's CORS. Preflights of all paths get the same answer, with " +
			"the methods and headers of all of them.",
		"",
	},
	"operation.preflight_skipped": {
		lossy,
		"It answers preflights. The API's paths allow different origins or have no operation that is imported, so " +
			"CORS isn't set.",
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
		skipped, "An authorizer provides the keys. The operations that need them stay closed.", openOperation,
	},
	"resource_policy": {exact, "It allows every call.", ""},
	"resource_policy.closed": {
		skipped,
		"It restricts calls in a way that can't be imported. All operations stay closed.",
		"Open operations with --open, and set the IP rules of their versions.",
	},
	"endpoint": {exact, "It restricts no calls.", ""},
	"endpoint.private": {
		skipped, "Only VPC endpoints reach the API. All operations stay closed.",
		"Open operations with --open if your gateway is as private.",
	},
	"cors": {exact, "It becomes the project's CORS.", ""},
	"cors.origins": {
		lossy, "Origins with an asterisk aren't imported. Their pages can't call the API.", "List them one by one.",
	},
	"cors.exposed": {
		lossy, "Pages can read the usual response headers only, instead of all.",
		"Set the exposed headers of the project's CORS.",
	},
	"cors.unused":      {skipped, "No operation of its API is imported.", ""},
	"validator.unused": {exact, "It refuses no call of an operation.", ""},
	"validator.closed": {
		skipped,
		"Postern doesn't validate calls. The operations that it checks stay closed.",
		"Open them with --open if their target validates calls.",
	},
	"gateway_response": {lossy, "Postern's own errors are sent instead.", ""},
	"model": {
		lossy, "Schemas aren't imported: Postern doesn't validate calls.", "Import the OpenAPI document.",
	},
	"setting":      {lossy, "Postern doesn't have this setting.", unknownDo},
	"stage":        {exact, "It becomes an environment. Its variables fill the URLs of targets.", ""},
	"stage.unused": {skipped, "The files have no export of this stage.", "Export the API's stage too."},
	"stage.throttle": {
		lossy, "Its throttling of methods isn't imported.", "Set the limits of the project.",
	},
	"stage.cache": {lossy, "Postern doesn't cache responses.", "Cache them in the upstream."},
	"stage.client_certificate": {
		lossy, "Its client certificate isn't imported. A target that requires it refuses calls.",
		"Set another one with postern upstreams certificate set.",
	},
	"stage.web_acl": {
		lossy, "Its web ACL (AWS WAF) isn't imported.", "Put another firewall in front of the gateway.",
	},
	"mapping":        {exact, "It becomes the path prefix of custom domains.", ""},
	"mapping.unused": {skipped, "No API of the import uses it.", "Name its host name with --host."},

	"usage_plan":        {exact, "It becomes a group. The owners of its keys are in it, and have its limits.", ""},
	"usage_plan.unused": {skipped, "It has no stage of an imported API.", ""},
	"usage_plan.rate": {
		approximate,
		"AWS throttles with a token bucket. Here calls are counted per second, or per minute if the rate is below 1. " +
			"Bursts above the rate get 429, and up to twice the rate can pass within a second.",
		"",
	},
	"usage_plan.week": {approximate, "Its weekly quota becomes a daily one of a seventh.", ""},
	"usage_plan.offset": {
		approximate, "The offset of its quota is left out: the first period has the full quota.", "",
	},
	"usage_plan.methods": {lossy, "Its throttling of methods isn't imported.", "Set limits on key types or keys."},

	"api_key":          {exact, "The key keeps working. Only its hash is stored.", ""},
	"api_key.disabled": {exact, "It is disabled, so it is imported frozen. Calls get 403, as on AWS.", ""},
	"api_key.plans":    {approximate, "It is in several usage plans. The strictest limits of them apply.", ""},
	"api_key.zero":     {exact, "Its usage plan allows no calls, so it is imported frozen.", ""},
	"api_key.no_plan": {
		approximate, "The files have no usage plan of the key, so it is imported frozen.", plansDo,
	},
	"api_key.weak_allowed": fates["keyauth_credential.weak_allowed"],
	"api_key.weak":         fates["keyauth_credential.weak"],
	"api_key.placeholder":  fates["keyauth_credential.placeholder"],
	"api_key.unusable":     fates["keyauth_credential.unusable"],
	"api_key.repeated":     {skipped, "Another key in the files has the same value.", "Remove one of them."},
	"api_key.no_key": {
		skipped,
		"The file doesn't have its value.",
		"Run aws apigateway get-api-keys with --include-values.",
	},
	"usage_plan_key": {exact, "The key's owner becomes a member of the usage plan's group.", ""},
	"usage_plan_key.no_plan": {
		skipped,
		"The output of get-usage-plan-keys doesn't name its usage plan.",
		"Name the file after the ID of the usage plan, such as plan-a1b2c3.json.",
	},
}
