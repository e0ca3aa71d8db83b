package openapi

import "fmt"

// Limit bounds what a document may take of one thing. Anyone may send a document, also without an account, so that no
// document may end the process or delay what others do.
type Limit struct {
	Name   string // of what is counted
	Most   int64
	Amount string // Most, for people
	Reason string

	says string // the refusal, which follows the place in the document
	fix  string // what to do then, a sentence
}

// MaxSize is the largest Size, in bytes.
const MaxSize = 16 << 20

// The limits of a document. docs/openapi.md has them as a table.
var (
	Size = &Limit{
		Name: "size", Most: MaxSize, Amount: "16 MB",
		Reason: "As it is sent. The largest published documents have 13 MB. `POST /proxy` takes a body of 6 MB: " +
			"give a larger document to the version afterwards.",
		says: "the document has more than 16 MB",
		fix:  "Leave out examples, or split the API into versions.",
	}
	UnclaimedSize = &Limit{
		Name: "size in an unclaimed workspace", Most: 1 << 20, Amount: "1 MB",
		Reason: "No one is accountable for an unclaimed workspace.",
		says:   "the document has more than 1 MB, which is as much as an unclaimed workspace takes",
		fix:    "Claim the workspace, or leave out examples.",
	}
	Expansion = &Limit{
		Name: "size of YAML as JSON", Most: 20, Amount: "20 times the size",
		Reason: "Aliases repeat what they stand for. It is also the limit on the size.",
		says:   "the YAML has more than 20 times its size as JSON, because aliases repeat parts of it",
		fix:    "Refer to the parts with $ref.",
	}
	Values = &Limit{
		Name: "values", Most: 1_000_000, Amount: "1,000,000",
		Reason: "While a document is read, an object or a list takes up to 350 bytes. GitHub's document has 258,000 " +
			"values. Of YAML, each line, comma and opening bracket counts as two.",
		says: "the document has more than 1,000,000 values",
		fix:  "Leave out examples, or split the API into versions.",
	}
	Nesting = &Limit{
		Name: "levels of nesting", Most: 100, Amount: "100",
		Reason: "Documents are read recursively. GitHub's document has 21 levels.",
		says:   "the document is nested more than 100 levels deep",
		fix:    "Move inner schemas to components, and refer to them.",
	}
	Operations = &Limit{
		Name: "operations", Most: 10_000, Amount: "10,000",
		Reason: "Pages, rules and the gateway's table of routes have a line for each. GitHub's document has 1,200.",
		says:   "the document has more than 10,000 operations",
		fix:    "Split the API into versions.",
	}
	Servers = &Limit{
		Name: "servers", Most: 1000, Amount: "1,000",
		Reason: "Each can become an environment.",
		says:   "the document has more than 1,000 servers",
		fix:    "Leave out servers that the project doesn't need.",
	}
	ServerURL = &Limit{
		Name: "address of a server", Most: 2 << 10, Amount: "2 KB",
		Reason: "With the defaults of its variables, each of which can be there often.",
		says:   "the address has more than 2 KB with the defaults of its variables",
		fix:    "Shorten it.",
	}
	References = &Limit{
		Name: "references in a chain", Most: 16, Amount: "16",
		Reason: "A reference that leads to a reference is followed each time that it is read.",
		says:   "references lead to references, in a chain of more than 16, or a ring",
		fix:    "Refer to the schema itself.",
	}
	PatternParts = &Limit{
		Name: "parts of a pattern", Most: 10_000, Amount: "10,000",
		Reason: "A pattern is compiled to an instruction for each of its parts, and a repeat writes its parts out: " +
			"`(ab){100}` has 200. Parts are counted before anything is compiled.",
		says: "the pattern has more than 10,000 parts, its repeats written out",
		fix:  "Repeat less, or bound the length with maxLength.",
	}
	AllPatternParts = &Limit{
		Name: "parts of all patterns", Most: 200_000, Amount: "200,000",
		Reason: "A part keeps about 45 bytes in memory, and takes 1 µs to compile.",
		says:   "the patterns of the document have more than 200,000 parts, their repeats written out",
		fix:    "Repeat less, or bound lengths with maxLength.",
	}
	Memory = &Limit{
		Name: "kept memory", Most: 64 << 20, Amount: "64 MB",
		Reason: "Of the document and of what requests are validated against, counted by the sizes of their types.",
		says:   "the document takes more than 64 MB of memory",
		fix:    "Split the API into versions, or share schemas by references.",
	}
	UnclaimedMemory = &Limit{
		Name: "kept memory in an unclaimed workspace", Most: 8 << 20, Amount: "8 MB",
		Reason: "No one is accountable for an unclaimed workspace. All its documents share it.",
		says:   "the document takes more than 8 MB of memory, which is as much as an unclaimed workspace has",
		fix:    "Claim the workspace, or share schemas by references.",
	}
	Steps = &Limit{
		Name: "steps of work", Most: 20_000_000, Amount: "20,000,000",
		Reason: "They take about 2 s. Reading GitHub's document takes 4,000,000.",
		says:   "the document takes too much work, more than 20,000,000 steps",
		fix:    "Refer to large parts less often, send JSON rather than YAML, or split the API into versions.",
	}
)

// Limits returns the limits of a document in the order of the documentation.
func Limits() []*Limit {
	return []*Limit{
		Size, UnclaimedSize, Expansion, Values, Nesting, Operations, Servers, ServerURL, References, PatternParts,
		AllPatternParts, Memory, UnclaimedMemory, Steps,
	}
}

// Row returns a limit as a row of a table in Markdown.
func (l *Limit) Row() string { return fmt.Sprintf("| %s | %s | %s |", l.Name, l.Amount, l.Reason) }
