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
}
