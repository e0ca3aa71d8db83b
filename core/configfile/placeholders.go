package configfile

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"postern/core/filelimits"
)

// Placeholder is a text that a template, a shell or a vault was meant to replace.
type Placeholder struct {
	Name   string // to be filled by
	Text   string // as in the file, before placeholders are filled
	File   string // name of the file of the first one, if there are several
	Line   int    // of the first one
	Count  int
	Filled bool
}

// forms are how placeholders are written. The group is the name. They are looked for in this order, and before the file
// is parsed, since decK's aren't YAML until they are rendered.
var forms = regexp.MustCompile(strings.Join([]string{
	`\$\{\{\s*env\s+["']?([A-Za-z_][A-Za-z0-9_]*)["']?[^}\n]*\}\}`, // decK
	`\$?\{\{\s*([^{}\n]{1,100}?)\s*\}\}`,                           // Helm, Jinja, GitHub
	`\$\{(stageVariables\.[A-Za-z0-9_]+)\}`,                        // AWS API Gateway
	`\$\{([A-Za-z_][A-Za-z0-9_]*)[^}\n]*\}`,
	`\$([A-Z_][A-Z0-9_]+)\b`,
	`\{vault://([^}\n]{1,200})\}`,
	`\b__([A-Z][A-Z0-9_]*[A-Z0-9])__`,
	`(?i)<(your[-_ ][a-z0-9_ -]{1,60})>`,
	`\b((?i:REPLACE|CHANGE)[-_]?(?i:ME)(?:[-_][A-Za-z0-9_-]{1,60})?)\b`,
}, "|"))

// marks replaces placeholders by words that are valid in YAML and JSON, inside and outside of quotes.
type marks struct {
	begin string // of a mark; doesn't occur anywhere else in the file
	texts []string
	names []string
	found map[string]*Placeholder
	set   map[string]string
}

// mark returns a text with marks for its placeholders.
func mark(text []byte) ([]byte, *marks, error) {
	m := &marks{begin: "PosternMark", found: map[string]*Placeholder{}}
	if !mayHavePlaceholder(text) {
		return text, m, nil
	}
	for n := 0; bytes.Contains(text, []byte(m.begin)); n++ {
		m.begin = fmt.Sprintf("PosternMark%dx", n)
	}
	var out bytes.Buffer
	out.Grow(len(text))
	line := 0
	for raw := range bytes.Lines(text) {
		line++
		if trimmed := bytes.TrimLeft(raw, " \t"); len(trimmed) > 0 && trimmed[0] == '#' || !mayHavePlaceholder(raw) {
			out.Write(raw)
			continue
		}
		last := 0
		for _, at := range forms.FindAllSubmatchIndex(raw, -1) {
			out.Write(raw[last:at[0]])
			last = at[1]
			out.WriteString(m.mark(string(raw[at[0]:at[1]]), nameOf(raw, at), line))
		}
		out.Write(raw[last:])
		if int64(len(m.found)) > filelimits.GatewayPlaceholders.Most {
			return nil, nil, Refuse(line, "%s", filelimits.GatewayPlaceholders.Sentence())
		}
	}
	return out.Bytes(), m, nil
}

// mayHavePlaceholder reports whether one of the forms can match. Matching them takes a hundred times as long.
func mayHavePlaceholder(text []byte) bool {
	for i, c := range text {
		switch {
		case c == '$', c == '<':
			return true
		case c == '{' && i+1 < len(text) && (text[i+1] == '{' || text[i+1] == 'v'): // {{ and {vault
			return true
		case c == '_' && i+1 < len(text) && text[i+1] == '_':
			return true
		case (c == 'm' || c == 'M') && i+1 < len(text) && text[i+1]|' ' == 'e' && afterE(text[:i]): // REPLACE_ME
			return true
		}
	}
	return false
}

// afterE reports whether a text ends like REPLACE or CHANGE, with - or _ or without.
func afterE(text []byte) bool {
	if last := len(text) - 1; last >= 0 && (text[last] == '-' || text[last] == '_') {
		text = text[:last]
	}
	return len(text) > 0 && text[len(text)-1]|' ' == 'e'
}

// nameOf returns the text of the group that matched. Names of templates can have dots and spaces: .Values.host.
func nameOf(raw []byte, at []int) string {
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 {
			return strings.TrimPrefix(strings.Join(strings.Fields(string(raw[at[i]:at[i+1]])), " "), ".")
		}
	}
	return ""
}

func (m *marks) mark(text, name string, line int) string {
	p := m.found[name]
	if p == nil {
		p = &Placeholder{Name: name, Text: text, Line: line}
		m.found[name] = p
	}
	p.Count++
	m.texts, m.names = append(m.texts, text), append(m.names, name)
	return fmt.Sprintf("%s%dx", m.begin, len(m.texts)-1)
}

// isMarked reports whether a text has a placeholder.
func (m *marks) isMarked(text string) bool {
	return len(m.texts) > 0 && strings.Contains(text, m.begin)
}

// with returns the marks with values for placeholders.
func (m *marks) with(set map[string]string) *marks {
	out := *m
	out.set, out.found = set, make(map[string]*Placeholder, len(m.found))
	for name, p := range m.found {
		one := *p
		_, one.Filled = set[name]
		out.found[name] = &one
	}
	return &out
}

// fill replaces the marks in all texts of a value: by the values that were set, or by what the file had. It takes the
// bytes of the texts from left.
func (m *marks) fill(v *Value, left *int64) error {
	if strings.Contains(v.Text, m.begin) {
		text, source := v.Text, *m
		source.set = nil
		v.Text, v.Placeholders = m.unmark(text)
		if original, all := source.unmark(text); len(all) > len(v.Placeholders) {
			v.Source = original
		}
		if *left -= int64(len(v.Text) + len(v.Source)); *left < 0 {
			return Beyond(filelimits.GatewayText)
		}
	}
	for i := range v.Items {
		if err := m.fill(&v.Items[i], left); err != nil {
			return err
		}
	}
	for i := range v.Members {
		one := &v.Members[i]
		if strings.Contains(one.Name, m.begin) {
			one.Name, _ = m.unmark(one.Name)
			if *left -= int64(len(one.Name)); int64(len(one.Name)) > filelimits.GatewayName.Most {
				return longName(one.Value.Line)
			}
		}
		if err := m.fill(&one.Value, left); err != nil {
			return err
		}
	}
	return nil
}

func (m *marks) unmark(text string) (filled string, open []string) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, m.begin)
		out.WriteString(before)
		if !found {
			return out.String(), open
		}
		var n int
		number, rest, _ := strings.Cut(after, "x")
		if _, err := fmt.Sscanf(number, "%d", &n); err != nil || n >= len(m.texts) {
			return out.String(), open
		}
		if value, ok := m.set[m.names[n]]; ok {
			out.WriteString(value)
		} else {
			out.WriteString(m.texts[n])
			open = append(open, m.names[n])
		}
		text = rest
	}
}

// list returns the placeholders in the order of the file, which has the name given.
func (m *marks) list(file string) []Placeholder {
	out := make([]Placeholder, 0, len(m.found))
	for _, p := range m.found {
		one := *p
		one.File = file
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Placeholder) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
	})
	return out
}

// Join adds the placeholders of a further file. Those of one name are one placeholder.
func Join(all, more []Placeholder) []Placeholder {
	for _, p := range more {
		if at := slices.IndexFunc(all, func(one Placeholder) bool { return one.Name == p.Name }); at >= 0 {
			all[at].Count += p.Count
			continue
		}
		all = append(all, p)
	}
	return all
}
