package movein

// closedFates are what happens to entities whose meaning can't be kept, and so would let more calls in, by the codes of
// their items.
var closedFates = map[string]fate{
	"consumer.renamed": {
		approximate,
		"The owner has a different name than the consumer, because another consumer has the same name, or because " +
			"the name begins with usr_, like user IDs. Upstreams still get X-Consumer headers with the names in the " +
			"file.",
		"",
	},
	"consumer.group_plugin": {
		lossy,
		"The consumer is in a consumer group with a plugin that can't be imported. The consumer's keys are imported " +
			"frozen.",
		openOwner,
	},
	"consumer.group_missing": {
		lossy,
		"The consumer is in a consumer group that isn't in the file, and that may have plugins that check calls. The " +
			"consumer's keys are imported frozen.",
		"Export the complete configuration, without select_tags, or open the consumer with `open`.",
	},
	"request-transformer.secret_argument": {
		lossy,
		"Changes are left out if their values may be secrets, because of their names or because the values come from " +
			"placeholders. Postern stores transforms as plain text.",
		"Set these values in the upstream, or as upstream headers.",
	},
	"request-transformer.secret_repeated": {
		lossy,
		"An upstream header can have only one value. The other values of a header with a secret are left out.",
		"Combine the values in one header.",
	},
	"response-transformer.secret": {
		lossy,
		"Changes are left out if their values may be secrets, because of their names or because the values come from " +
			"placeholders. Postern stores transforms as plain text.",
		"Set these values in the upstream.",
	},
	"plugin.missing_closed": {
		skipped,
		"The plugin applies to an entity that isn't in the file, and may check or block calls. Routes that it may " +
			"apply to stay closed.",
		"Export the complete configuration, without select_tags, or open the routes with `open`.",
	},
	"plugin.enabled": {
		lossy,
		"The value of enabled is neither true nor false, so Kong rejects the file. The plugin is treated as enabled.",
		"Write true or false without quotes.",
	},
	"service.enabled": {
		lossy,
		"The value of enabled is neither true nor false, so Kong rejects the file. The service's routes stay closed.",
		"Write true or false without quotes.",
	},
}
