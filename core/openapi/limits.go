package openapi

import "postern/core/filelimits"

// Limit limits one resource that a document may use. Anyone may send a document, even without an account, so no
// document may end the process or delay others.
type Limit = filelimits.Limit

// MaxSize is the largest Size, in bytes.
const MaxSize = 16 << 20

// The limits of a document. docs/openapi.md has them as a table.
var (
	Size = &Limit{
		Name: "size", Most: MaxSize, Amount: "16 MB",
		Reason: "The largest published documents are 13 MB. `POST /proxy` accepts a body of up to 6 MB. You " +
			"can upload a larger document to the version afterward.",
		Says: "the document is larger than 16 MB",
		Fix:  "Leave out examples, or split the API into versions.",
	}
	UnclaimedSize = &Limit{
		Name: "size in an unclaimed workspace", Most: 1 << 20, Amount: "1 MB",
		Reason: "No one is accountable for an unclaimed workspace.",
		Says:   "the document is larger than 1 MB, the limit for an unclaimed workspace",
		Fix:    "Claim the workspace, or leave out examples.",
	}
	Expansion = &Limit{
		Name: "size of YAML converted to JSON", Most: 20, Amount: "20 times the size of the YAML",
		Reason: "Aliases repeat the parts that they refer to. The JSON must also be within the size limit.",
		Says:   "as JSON, the YAML is more than 20 times as large, because aliases repeat parts of it",
		Fix:    "Refer to the parts with $ref.",
	}
	Values = &Limit{
		Name: "values", Most: 1_000_000, Amount: "1,000,000",
		Reason: "Reading an object or a list takes up to 350 bytes of memory. GitHub's document has 258,000 values. " +
			"In YAML, each line, comma and opening bracket counts as two values.",
		Says: "the document has more than 1,000,000 values",
		Fix:  "Leave out examples, or split the API into versions.",
	}
	Nesting = &Limit{
		Name: "nesting levels", Most: 100, Amount: "100",
		Reason: "Documents are read recursively. GitHub's document has 21 levels.",
		Says:   "the document is nested more than 100 levels deep",
		Fix:    "Move inner schemas to components, and refer to them.",
	}
	Operations = &Limit{
		Name: "operations", Most: 10_000, Amount: "10,000",
		Reason: "Pages, rules and the gateway's routing table list each operation. GitHub's document has 1,200.",
		Says:   "the document has more than 10,000 operations",
		Fix:    "Split the API into versions.",
	}
	Servers = &Limit{
		Name: "servers", Most: 1000, Amount: "1,000",
		Reason: "Each server can become an environment.",
		Says:   "the document has more than 1,000 servers",
		Fix:    "Leave out servers that the project doesn't need.",
	}
	ServerURL = &Limit{
		Name: "server URL", Most: 2 << 10, Amount: "2 KB",
		Reason: "The length includes the defaults of the URL's variables. The URL can use each variable many times.",
		Says:   "the URL is longer than 2 KB with the defaults of its variables",
		Fix:    "Shorten it.",
	}
	References = &Limit{
		Name: "references in a chain", Most: 16, Amount: "16",
		Reason: "Each time a reference is read, the whole chain is followed.",
		Says:   "a chain has more than 16 references, or references form a cycle",
		Fix:    "Refer directly to the schema.",
	}
	PatternParts = &Limit{
		Name: "parts of a pattern", Most: 10_000, Amount: "10,000",
		Reason: "A pattern is compiled to one instruction for each part, and repeats are written out: `(ab){100}` " +
			"has 200 parts. Parts are counted before anything is compiled.",
		Says: "the pattern has more than 10,000 parts, with its repeats written out",
		Fix:  "Repeat less, or limit the length with maxLength.",
	}
	AllPatternParts = &Limit{
		Name: "parts of all patterns", Most: 200_000, Amount: "200,000",
		Reason: "A part takes about 45 bytes of memory, and 1 µs to compile.",
		Says:   "the patterns of the document have more than 200,000 parts, with their repeats written out",
		Fix:    "Repeat less, or limit lengths with maxLength.",
	}
	Memory = &Limit{
		Name: "retained memory", Most: 64 << 20, Amount: "64 MB",
		Reason: "This limit applies to the document and its validators. Their memory is estimated from the sizes of " +
			"their types and strings.",
		Says: "the document takes more than 64 MB of memory",
		Fix:  "Split the API into versions, or share schemas with $ref.",
	}
	UnclaimedMemory = &Limit{
		Name: "retained memory in an unclaimed workspace", Most: 8 << 20, Amount: "8 MB",
		Reason: "No one is accountable for an unclaimed workspace. All its documents share this memory.",
		Says:   "the document takes more than 8 MB of memory, the limit for an unclaimed workspace",
		Fix:    "Claim the workspace, or share schemas with $ref.",
	}
	Steps = &Limit{
		Name: "processing steps", Most: 20_000_000, Amount: "20,000,000",
		Reason: "This many steps take about 2 s. Reading GitHub's document takes 4,300,000 steps.",
		Says:   "processing the document takes more than 20,000,000 steps",
		Fix:    "Refer to large parts less often, send JSON rather than YAML, or split the API into versions.",
	}
)

// Limits returns the limits of a document in the order of the documentation.
func Limits() []*Limit {
	return []*Limit{
		Size, UnclaimedSize, Expansion, Values, Nesting, Operations, Servers, ServerURL, References, PatternParts,
		AllPatternParts, Memory, UnclaimedMemory, Steps,
	}
}
