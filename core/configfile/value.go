package configfile

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a Value.
type Kind uint8

// The kinds of values. Null and Absent mean the same to Kong.
const (
	Absent Kind = iota
	Null
	Text
	Number
	Bool
	List
	Object
	Hashed // an API key, whose value isn't kept
)

// Value is a value of a file. Numbers keep their digits.
type Value struct {
	Kind    Kind
	Text    string // of a Text, a Number or a Bool
	Line    int    // 1 is the first
	Items   []Value
	Members []Member

	// Placeholders are the names of the placeholders in Text that have no value yet.
	Placeholders []string

	// Source is the text as in the file, if one of its placeholders was filled: the value can be a secret.
	Source string

	Key *Key // of a Hashed
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value Value
}

// IsSet reports whether the file has a value that isn't null.
func (v Value) IsSet() bool { return v.Kind > Null }

// Get returns a member, following a path of names. It returns an absent value if one is missing.
func (v Value) Get(path ...string) Value {
	for _, name := range path {
		at := slices.IndexFunc(v.Members, func(m Member) bool { return m.Name == name })
		if at < 0 {
			return Value{}
		}
		v = v.Members[at].Value
	}
	return v
}

// IsFilled reports whether a placeholder in the text was filled.
func (v Value) IsFilled() bool { return v.Source != "" }

// AsWritten returns the text with its placeholders, for people.
func (v Value) AsWritten() string {
	if v.IsFilled() {
		return v.Source
	}
	return v.Text
}

// String returns a text, the digits of a number or "true"; "" for others.
func (v Value) String() string { return v.Text }

// Int returns a number, and otherwise if there is none. Ports and timeouts that placeholders fill are texts.
func (v Value) Int(otherwise int) int {
	text := strings.TrimSpace(v.Text)
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == float64(int(f)) {
		return int(f)
	}
	return otherwise
}

// Float returns a number, and otherwise if there is none.
func (v Value) Float(otherwise float64) float64 {
	if f, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64); err == nil {
		return f
	}
	return otherwise
}

// Bool returns a truth value, and otherwise if there is none. Kong's YAML reader also knows yes, no, on and off.
func (v Value) Bool(otherwise bool) bool {
	switch strings.ToLower(strings.TrimSpace(v.Text)) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	return otherwise
}

// Texts returns the elements of a list as texts, or a single text as a list of one.
func (v Value) Texts() []string {
	switch v.Kind {
	case Text, Number, Bool:
		return []string{v.Text}
	case List:
		out := make([]string, 0, len(v.Items))
		for _, item := range v.Items {
			if item.Kind == Text || item.Kind == Number || item.Kind == Bool {
				out = append(out, item.Text)
			}
		}
		return out
	default:
		return nil
	}
}

// Unfilled returns the names of all placeholders within that have no value, none twice.
func (v Value) Unfilled() []string {
	var names []string
	seen := map[string]bool{}
	v.walk(func(one Value) {
		for _, name := range one.Placeholders {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	})
	return names
}

func (v Value) walk(visit func(Value)) {
	visit(v)
	for _, item := range v.Items {
		item.walk(visit)
	}
	for _, m := range v.Members {
		m.Value.walk(visit)
	}
}

// StepsOfMember is the cost of adding a member, which takes memory too. Comparing it with another member costs one
// step.
const StepsOfMember = 20

// Over returns an object with the members of another that it lacks, as deep as objects go. It takes the steps from
// left, and stops once none is left.
func (v Value) Over(base Value, left *int) Value {
	if v.Kind != Object || base.Kind != Object {
		if v.IsSet() {
			return v
		}
		*left -= int(base.TextSize() / bytesOfStep)
		return base
	}
	out := v
	out.Members = slices.Clone(v.Members)
	*left -= len(v.Members)
	for _, m := range base.Members {
		if *left -= 1 + len(out.Members); *left < 0 {
			break
		}
		at := slices.IndexFunc(out.Members, func(own Member) bool { return own.Name == m.Name })
		switch {
		case at < 0:
			*left -= StepsOfMember + int((int64(len(m.Name))+m.Value.TextSize())/bytesOfStep)
			out.Members = append(out.Members, m)
		default:
			out.Members[at].Value = out.Members[at].Value.Over(m.Value, left)
		}
	}
	return out
}

// bytesOfStep is how many bytes of text that is added cost one step.
const bytesOfStep = 4

// TextSize returns the bytes of the value's texts and member names, without the top-level members in apart.
func (v Value) TextSize(apart ...string) int64 {
	size := int64(len(v.Text))
	for i := range v.Items {
		size += v.Items[i].TextSize()
	}
	for i := range v.Members {
		if m := &v.Members[i]; !slices.Contains(apart, m.Name) {
			size += int64(len(m.Name)) + m.Value.TextSize()
		}
	}
	return size
}

// IsLarger reports whether a value has more than most values within, apart from some of its members.
func (v Value) IsLarger(most int, apart []string) bool {
	left := most
	for _, m := range v.Members {
		if !slices.Contains(apart, m.Name) {
			m.Value.count(&left)
		}
	}
	return left < 0
}

func (v Value) count(left *int) {
	for i := 0; i < len(v.Items) && *left >= 0; i++ {
		v.Items[i].count(left)
	}
	for i := 0; i < len(v.Members) && *left >= 0; i++ {
		v.Members[i].Value.count(left)
	}
	*left--
}
