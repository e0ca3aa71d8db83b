package movein

import "postern/core/awsfile"

var awsTitles = map[awsfile.Kind]string{
	awsfile.KindAPI: "APIs", awsfile.KindOperation: "Operations", awsfile.KindAuthorizer: "Authorizers",
	awsfile.KindKeyScheme: "API key requirements", awsfile.KindPolicy: "Resource policies",
	awsfile.KindEndpoint: "Endpoint settings", awsfile.KindCORS: "CORS", awsfile.KindValidator: "Request validators",
	awsfile.KindResponse: "Gateway responses", awsfile.KindModel: "Models", awsfile.KindSetting: "Other settings",
	awsfile.KindStage: "Stages", awsfile.KindMapping: "Base path mappings", awsfile.KindPlan: "Usage plans",
	awsfile.KindKey: "API keys", awsfile.KindPlanKey: "Usage plan keys",
}

const (
	openOperation = "Open the operation with `open` if it's safe to accept calls without this check."
	plansDo       = "Import the API together with the output of get-usage-plans and get-usage-plan-keys. Imports " +
		"don't unfreeze keys, so if you have already run this import, undo it first."
)

// awsFates are the fates of entities of AWS API Gateway.
var awsFates = map[string]fate{
	"api": {exact, "The API becomes a project, and its stage becomes an environment.", ""},
	"api.no_host": {
		lossy,
		"The API has no custom domain name. Callers must switch to the project's gateway URL, because execute-api " +
			"host names belong to AWS.",
		"Use `hosts` to list the host names that callers will use.",
	},
	"api.unserved_host": {
		lossy,
		"One of the API's custom domain names can't be a custom domain in Postern, because it is a name of this " +
			"installation.",
		hostDo,
	},
	"api.host_taken": {
		lossy,
		"Another API or stage in this import has the same host name and path, and gets all calls to them.",
		"Add the output of get-base-path-mappings, or import the stages one at a time with different values for " +
			"`hosts`.",
	},
	"api.other_cors": {
		lossy,
		"Another stage of the API has different CORS settings. A project has only one set of CORS settings, so the " +
			"settings of the first stage in the files apply.",
		"Import the stages one at a time, with different values for `name`.",
	},
	"api.no_operations": {
		skipped,
		"None of the API's operations can be imported.",
		"See the reasons listed for the operations.",
	},

	"api.repeated": {skipped, "Another file contains the same API and stage.", "Leave out the older file."},

	"operation.repeated": {skipped, "Another file contains the same API and stage.", "Leave out the older file."},
	"operation.unreachable": {
		exact, "Every method of the path has its own operation, so this operation never gets a call.", "",
	},
	"operation.same": {
		approximate,
		"Another operation's path differs only in a trailing slash or in the names of parameters. The two operations " +
			"are imported as one.",
		"",
	},
	"operation.twin": {
		skipped,
		"Another operation's path differs only in a trailing slash or in the names of parameters, but the two " +
			"operations can't be imported as one. Calls to both are refused.",
		"Use the same target and the same requirements for both operations.",
	},
	"operation.exception": {
		skipped,
		"The operation's path also matches the path of another operation, which AWS treats differently. A rule can't " +
			"have that other path, so this operation isn't imported.",
		"Rename the path of the other operation, or list the paths of this operation individually.",
	},
	"operation.slash": {
		approximate,
		"Either the operation's URL or its path has a trailing slash, but not both. Postern forwards the path of the " +
			"call, with or without the slash.",
		"",
	},
	"operation.shadow": {
		approximate,
		"Calls whose path begins like the paths of operations with another target go to the version that contains " +
			"those operations. If no operation in that version matches, the calls get 403.",
		"Use the same target for both operations.",
	},
	"operation.responses": {
		lossy,
		"AWS changes the operation's responses. Postern returns them unchanged.",
		"Change the responses in the upstream.",
	},
	"operation.no_plans": {
		approximate,
		"The files don't contain usage plans, so only members of the group aws-keys can call the operation. The " +
			"group has no members yet.",
		plansDo,
	},
	"operation.unknown_api": {
		lossy,
		"The operation requires a key from a usage plan, but the export doesn't contain the API's ID, so the usage " +
			"plans are unknown. Calls get 403.",
		"Add the server https://ID.execute-api.REGION.amazonaws.com/STAGE to the export.",
	},
	"operation": {exact, "Calls are forwarded to the same URL. Anyone can call the operation, as on AWS.", ""},
	"operation.key": {
		approximate,
		"Calls require a key from one of the API's usage plans, and are forwarded to the same URL. AWS also forwards " +
			"the key in the X-API-Key header. Postern doesn't. Calls without a valid key get 401 or 403. On AWS, " +
			"they always get 403.",
		"",
	},
	"operation.mixed": {
		approximate,
		"Anyone can call the operation, as on AWS. Other operations in its version require a key, so a call with an " +
			"invalid key gets 401. AWS ignores the key.",
		"",
	},
	"operation.opened": {
		lossy, "The operation is open because you used `open`. Checks that can't be imported don't apply.", "",
	},
	"operation.closed": {
		skipped,
		"The operation stays closed, because AWS checks its calls in a way that can't be imported. Calls get 401 or " +
			"403.",
		openOperation,
	},
	"operation.no_integration": {
		skipped,
		"The export doesn't contain the operation's target.",
		"Export the API again: " + awsfile.Command,
	},
	"operation.mock": {
		skipped,
		"AWS answers the operation's calls itself (mock). Postern only forwards calls.",
		"Have an upstream respond to these calls.",
	},
	"operation.aws": {
		skipped,
		"The operation calls Lambda or another AWS service, which requires AWS credentials.",
		"Create a URL for the function, and set the URL as the target of an HTTP integration.",
	},
	"operation.vpc_link": {
		skipped,
		"AWS reaches the operation's target through a VPC link.",
		"Run Postern where it can reach the target, and set the target's URL in the export.",
	},
	"operation.default_route": {
		skipped,
		"The default route sends calls with any path to one URL. Postern keeps the path of each call.",
		"Add a route for {proxy+} to the API.",
	},
	"operation.method": {
		skipped,
		"AWS calls the target with a different method. Postern keeps the method of each call.",
		"Have callers use the target's method.",
	},
	"operation.parameters": {
		skipped,
		"AWS doesn't derive the path of the target's URL from the path of the call.",
		"Have callers use the target's path.",
	},
	"operation.uri": {
		skipped,
		"The path of the operation's URL isn't a fixed prefix followed by the path of the call.",
		"Have the target accept the path of the call.",
	},
	"operation.placeholder": {
		skipped,
		"The operation's integration has a stage variable or placeholder without a value.",
		"Add the output of get-stages, or set stageVariables.NAME with `set`.",
	},
	"operation.overlap": {
		skipped,
		"Another operation whose path begins the same way has a different target. Postern can't distinguish calls " +
			"to the two operations.",
		"Use the same target for both operations.",
	},
	"operation.custom": {
		lossy,
		"The operation isn't a proxy integration. Postern forwards calls and responses unchanged, without mapping " +
			"templates.",
		"Have the target accept the calls unchanged.",
	},
	"operation.timeout": {
		approximate,
		"The operation has a shorter timeout than other operations with the same target. In Postern, the longest " +
			"timeout applies to all of them.",
		"",
	},
	"operation.mapping": {
		lossy,
		"AWS sets headers or query parameters that Postern doesn't set.",
		"Set them in the upstream, or with transforms.",
	},
	"operation.unverified": {
		approximate,
		"AWS doesn't verify the target's certificate, but Postern does. If the certificate isn't from a public " +
			"authority, calls get 502.",
		"Set the authority in upstream.ca, or accept the target's certificate with `trust`.",
	},
	"operation.no_plan": {
		exact,
		"The operation requires a key from a usage plan, but no usage plan includes its stage. Calls get 403, as on " +
			"AWS.",
		"",
	},
	"operation.preflight": {
		approximate,
		"The operation answers preflights, so it becomes the project's CORS settings. Preflights for all paths get " +
			"the same response, with the methods and headers of all paths.",
		"",
	},
	"operation.preflight_skipped": {
		lossy,
		"The operation answers preflights. The API's paths allow different origins or have no imported operations, " +
			"so CORS isn't set.",
		"Set the project's CORS settings.",
	},

	"authorizer": {
		skipped,
		"Authorizers aren't imported. Operations that use this authorizer stay closed.",
		"Create API keys for these callers, or have the version accept tokens from their issuer.",
	},
	"authorizer.unused": {skipped, "No operation uses the authorizer.", ""},
	"key_scheme":        {exact, "Keys are sent in the X-API-Key header, as on AWS.", ""},
	"key_scheme.authorizer": {
		skipped, "An authorizer provides the keys. Operations that require them stay closed.", openOperation,
	},
	"resource_policy": {exact, "The policy allows every call.", ""},
	"resource_policy.closed": {
		skipped,
		"The policy restricts calls in a way that can't be imported. All operations stay closed.",
		"Open operations with `open`, and set the IP rules of their versions.",
	},
	"endpoint": {exact, "The endpoint settings don't restrict calls.", ""},
	"endpoint.private": {
		skipped,
		"Only VPC endpoints can reach the API. All operations stay closed.",
		"Open operations with `open` if your gateway is equally private.",
	},
	"cors": {exact, "The settings become the project's CORS settings.", ""},
	"cors.origins": {
		lossy,
		"Origins with an asterisk aren't imported. Pages from these origins can't call the API.",
		"List the origins individually.",
	},
	"cors.exposed": {
		lossy,
		"Pages can read only the default response headers instead of all headers.",
		"Set the exposed headers in the project's CORS settings.",
	},
	"cors.unfilled": {
		skipped, "The CORS settings have a placeholder without a value, so they aren't imported.", setIt,
	},
	"cors.unused":      {skipped, "None of the API's operations are imported.", ""},
	"validator.unused": {exact, "The validator doesn't refuse calls to any operation.", ""},
	"validator.closed": {
		skipped,
		"Validators aren't imported. Operations that use this validator stay closed.",
		"Open the operations with `open` if their targets validate calls.",
	},
	"gateway_response": {lossy, "Callers get Postern's own errors instead.", ""},
	"model": {
		lossy, "Schemas aren't imported, so Postern doesn't validate calls.", "Import the OpenAPI document.",
	},
	"setting": {lossy, "Postern doesn't have this setting.", unknownDo},
	"stage": {
		exact,
		"The stage becomes an environment. In target URLs, stage variables are replaced by their values.",
		"",
	},
	"stage.unused": {
		skipped, "The files don't contain an export of this stage.", "Also export this stage of the API.",
	},
	"stage.throttle": {lossy, "The limits for individual methods aren't imported.", "Set limits on the project."},
	"stage.cache":    {lossy, "Postern doesn't cache responses.", "Cache responses in the upstream."},
	"stage.client_certificate": {
		lossy,
		"The stage's client certificate isn't imported. A target that requires it will refuse calls.",
		"Set a different certificate with postern upstreams certificate set.",
	},
	"stage.web_acl": {
		lossy, "The stage's web ACL (AWS WAF) isn't imported.", "Put another firewall in front of the gateway.",
	},
	"mapping":        {exact, "The mapping becomes the path prefix of custom domains.", ""},
	"mapping.unused": {skipped, "No API in the import uses the mapping.", "Add its host name with `hosts`."},

	"usage_plan": {
		exact,
		"The plan becomes a group. The owners of the plan's keys become its members, and the plan's limits apply to " +
			"the keys.",
		"",
	},
	"usage_plan.unused": {skipped, "The plan doesn't include a stage of an imported API.", ""},
	"usage_plan.rate": {
		approximate,
		"AWS throttles with a token bucket. Postern counts calls per second, or per minute if the rate is below 1. " +
			"Bursts above the rate get 429. At worst, twice the rate is allowed within one second.",
		"",
	},
	"usage_plan.apis": {
		approximate,
		"On AWS, the limits of a plan apply to the calls to all of its APIs combined. In Postern, each API is a " +
			"project that counts calls separately, so a key can make the same number of calls to each API.",
		"Set lower limits.",
	},
	"usage_plan.week":   {approximate, "The weekly quota becomes a daily limit of one-seventh of the quota.", ""},
	"usage_plan.offset": {approximate, "The quota's offset is left out, so the first period has the full quota.", ""},
	"usage_plan.methods": {
		lossy,
		"The limits for individual methods aren't imported.",
		"Set limits on key types or keys.",
	},

	"api_key":          {exact, "The key keeps working. Only its hash is stored.", ""},
	"api_key.disabled": {exact, "The key is disabled, so it is imported frozen. Calls get 403, as on AWS.", ""},
	"api_key.unknown": {
		approximate,
		"The files don't show whether the key is enabled, so it is imported frozen.",
		"Add the output of aws apigateway get-api-keys with --include-values. Imports don't unfreeze keys, so if you " +
			"have already run this import, undo it first.",
	},
	"api_key.plans": {approximate, "The key is in several usage plans. The strictest limits apply.", ""},
	"api_key.zero":  {exact, "The key's usage plan doesn't allow any calls, so the key is imported frozen.", ""},
	"api_key.no_plan": {
		approximate, "The files don't contain a usage plan for the key, so it is imported frozen.", plansDo,
	},
	"api_key.weak_allowed": fates["keyauth_credential.weak_allowed"],
	"api_key.weak":         fates["keyauth_credential.weak"],
	"api_key.placeholder":  fates["keyauth_credential.placeholder"],
	"api_key.unusable":     fates["keyauth_credential.unusable"],
	"api_key.repeated":     {skipped, "Another key in the files has the same value.", "Remove one of them."},
	"api_key.no_key": {
		skipped, "The file doesn't contain the key's value.", "Run aws apigateway get-api-keys with --include-values.",
	},
	"usage_plan_key": {exact, "The key's owner becomes a member of the usage plan's group.", ""},
	"usage_plan_key.no_plan": {
		skipped,
		"The output of get-usage-plan-keys doesn't name its usage plan.",
		"Include the ID of the usage plan in the file name, such as plan-a1b2c3.json.",
	},
}
