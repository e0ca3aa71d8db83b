package movein

// closedFates are what happens to entities whose meaning can't be kept, and so would let more calls in, by the codes of
// their items.
var closedFates = map[string]fate{
	"consumer.renamed": {
		approximate,
		"Its owner has a different name, because another consumer has the same name, or because the name begins with " +
			"usr_, like the IDs of users. Upstreams still get X-Consumer headers with the names in the file.",
		"",
	},
	"consumer.group_plugin": {
		lossy,
		"It is in a consumer group with a plugin that can't be imported. Its keys are imported frozen.",
		openOwner,
	},
	"consumer.group_missing": {
		lossy,
		"It is in a consumer group that isn't in the file, and whose plugins may check its calls. Its keys are " +
			"imported frozen.",
		"Export the whole configuration, without select_tags, or open the consumer with --open.",
	},
	"request-transformer.secret_argument": {
		lossy,
		"Changes whose values may be secrets, because of their names or because a placeholder was filled in, are " +
			"left out. Postern stores transforms as plain text.",
		"Add it in the upstream, or as a header.",
	},
	"request-transformer.secret_repeated": {
		lossy,
		"An upstream header has one value. The other values of a header with a secret are left out.",
		"Write the values into one header.",
	},
	"response-transformer.secret": {
		lossy,
		"Changes whose values may be secrets, because of their names or because a placeholder was filled in, are " +
			"left out. Postern stores transforms as plain text.",
		"Add it in the upstream.",
	},
	"plugin.missing_closed": {
		skipped,
		"It applies to something that isn't in the file, and may check or block calls. The routes that it can apply " +
			"to stay closed.",
		"Export the whole configuration, without select_tags, or open the routes with --open.",
	},
	"plugin.enabled": {
		lossy,
		"Its enabled is neither true nor false, so Kong refuses the file. It is treated as on.",
		"Write true or false without quotes.",
	},
	"service.enabled": {
		lossy,
		"Its enabled is neither true nor false, so Kong refuses the file. Its routes stay closed.",
		"Write true or false without quotes.",
	},
}
