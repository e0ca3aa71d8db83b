package openapi

// Limit bounds what a document may take of one thing. Anyone may send a document, also without an account, so that no
// document may end the process or delay what others do.
type Limit struct {
	Name   string // of what is counted
	Most   int64
	Amount string // Most, for people
	Reason string
	says   string // the refusal, which follows the place in the document
	fix    string // what to do then, a sentence
}

// The limits of a document.
var (
	PatternParts = &Limit{
		Name: "parts of a pattern", Most: 10_000, Amount: "10,000",
		Reason: "A pattern is compiled to an instruction for each of its parts, and each repeat writes its parts out: " +
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
)
