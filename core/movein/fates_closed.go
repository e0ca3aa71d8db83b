package movein

// closedFates are what happens to entities whose meaning can't be kept, and so would let more calls in, by the codes of
// their items.
var closedFates = map[string]fate{
	"consumer.renamed": {
		approximate,
		"Its owner has another name, because another consumer has the same one, or because it begins with usr_, as " +
			"the IDs of users do. Upstreams get the same X-Consumer headers for the names that it has in the file.",
		"",
	},
	"consumer.group_plugin": {
		lossy,
		"A plugin applies to the members of a consumer group that it is in, and can't be imported. Its keys are " +
			"imported frozen.",
		openOwner,
	},
	"consumer.group_missing": {
		lossy,
		"It is in a consumer group that the file doesn't have, and whose plugins may check its calls. Its keys are " +
			"imported frozen.",
		"Export the whole configuration, without select_tags, or open the consumer with --open.",
	},
	"request-transformer.secret_argument": {
		lossy,
		"Changes whose values can be secrets, since a placeholder was filled or by their names, are left out. " +
			"Postern stores transforms as plain text.",
		"Add it in the upstream, or as a header.",
	},
	"request-transformer.secret_repeated": {
		lossy,
		"An upstream header has one value. The other values of a header with a secret are left out.",
		"Write the values into one header.",
	},
	"response-transformer.secret": {
		lossy,
		"Changes whose values can be secrets, since a placeholder was filled or by their names, are left out. " +
			"Postern stores transforms as plain text.",
		"Add it in the upstream.",
	},
	"plugin.missing_closed": {
		skipped,
		"It applies to something that the file doesn't have, and may check or block calls. The routes that it can " +
			"apply to stay closed.",
		"Export the whole configuration, without select_tags, or open the routes with --open.",
	},
	"plugin.enabled": {
		lossy,
		"Its enabled isn't true or false, so Kong refuses the file. It counts as on.",
		"Write true or false without quotes.",
	},
	"service.enabled": {
		lossy,
		"Its enabled isn't true or false, so Kong refuses the file. Its routes stay closed.",
		"Write true or false without quotes.",
	},
}
