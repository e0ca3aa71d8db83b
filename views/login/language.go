package login

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"
)

// A language is a file TAG.json (BCP 47): an object of texts by key, with {name} where a value
// is put in. en.json has every key; a key that another file lacks is shown in English. The
// keys error_KEY are for errors, which have their own text in English: KEY is the code of the error, or its own where
// errors with the same code differ.
//
//go:embed languages/*.json
var languageFiles embed.FS

const (
	english     = "en"
	maxAccepted = 200 // bytes read of Accept-Language and of ui_locales each
)

// Words are the texts of a language.
type Words struct {
	tag   language.Tag
	texts map[string]string
}

// Languages are the languages of the pages. The first is English.
type Languages struct {
	all     []*Words
	matcher language.Matcher
}

// Builtin returns the embedded languages.
var Builtin = sync.OnceValue(func() *Languages {
	l, err := languagesIn(languageFiles, "languages")
	if err != nil {
		panic(fmt.Sprintf("login: the embedded languages: %v", err))
	}
	return l
})

// LoadLanguages returns the embedded languages and those of a directory, whose files may also
// replace single texts of an embedded language. "" means no directory.
func LoadLanguages(dir string) (*Languages, error) {
	if dir == "" {
		return Builtin(), nil
	}
	l, err := languagesIn(os.DirFS(dir), ".")
	if err != nil {
		return nil, fmt.Errorf("read the languages in %s: %w", dir, err)
	}
	return Builtin().with(l.all), nil
}

// with returns the languages with others, whose texts come before those of the same language.
func (l *Languages) with(others []*Words) *Languages {
	all := slices.Clone(l.all)
	for _, other := range others {
		same := slices.IndexFunc(all, func(w *Words) bool { return w.tag == other.tag })
		if same < 0 {
			all = append(all, other)
			continue
		}
		merged := &Words{tag: other.tag, texts: map[string]string{}}
		for _, from := range []*Words{all[same], other} {
			for key, text := range from.texts {
				merged.texts[key] = text
			}
		}
		all[same] = merged
	}
	return newLanguages(all)
}

func newLanguages(all []*Words) *Languages {
	var tags []language.Tag
	for _, one := range all {
		tags = append(tags, one.tag)
	}
	return &Languages{all: all, matcher: language.NewMatcher(tags)}
}

// languagesIn reads the files of a directory; English comes first.
func languagesIn(files fs.FS, dir string) (*Languages, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, err
	}
	var all []*Words
	for _, entry := range entries {
		if path.Ext(entry.Name()) != ".json" {
			continue
		}
		one, err := readWords(files, path.Join(dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		if one.tag.String() == english {
			all = slices.Insert(all, 0, one)
		} else {
			all = append(all, one)
		}
	}
	return newLanguages(all), nil
}

func readWords(files fs.FS, name string) (*Words, error) {
	tag, err := language.Parse(strings.TrimSuffix(path.Base(name), ".json"))
	if err != nil {
		return nil, fmt.Errorf("the name isn't a language tag such as fr or pt-BR: %w", err)
	}
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	words := &Words{tag: tag}
	if err := json.Unmarshal(raw, &words.texts); err != nil {
		return nil, fmt.Errorf("not an object of texts: %w", err)
	}
	return words, nil
}

// Match returns the language for ui_locales (OpenID Connect Core 1.0, 3.1.2.1: tags separated
// by spaces, the preferred first) and, if it names none of the languages, for Accept-Language
// (RFC 9110, 12.5.4). It returns English if neither does.
func (l *Languages) Match(locales, accepted string) *Words {
	var wanted []language.Tag
	for _, text := range strings.Fields(locales[:min(len(locales), maxAccepted)]) {
		if tag, err := language.Parse(text); err == nil {
			wanted = append(wanted, tag)
		}
	}
	if tags, _, err := language.ParseAcceptLanguage(accepted[:min(len(accepted), maxAccepted)]); err == nil {
		wanted = append(wanted, tags...)
	}
	_, best, confidence := l.matcher.Match(wanted...)
	if confidence == language.No {
		best = 0
	}
	return l.all[best]
}

// T returns the text of a key. pairs has the names of values and the values in turn.
func (w *Words) T(key string, pairs ...string) string {
	text := ""
	if w != nil {
		text = w.texts[key]
	}
	if text == "" { // or null: templates for translations have empty texts
		text = Builtin().all[0].texts[key]
	}
	return fill(text, pairs)
}

// Error returns the text of an error by its key, or the English one if the language doesn't translate it. pairs are
// those of T.
func (w *Words) Error(key, inEnglish string, pairs ...string) string {
	if w != nil && w.texts["error_"+key] != "" {
		return fill(w.texts["error_"+key], pairs)
	}
	return inEnglish
}

// fill replaces the placeholders of a text.
func fill(text string, pairs []string) string {
	var replaced []string
	for i := 0; i+1 < len(pairs); i += 2 {
		replaced = append(replaced, "{"+pairs[i]+"}", pairs[i+1])
	}
	return strings.NewReplacer(replaced...).Replace(text)
}

// Date writes the day of a moment in UTC. The text account_date_layout is a layout of package time.
func (w *Words) Date(at time.Time) string { return at.UTC().Format(w.T("account_date_layout")) }

// Time writes a moment in UTC. The text account_time_layout is a layout of package time.
func (w *Words) Time(at time.Time) string { return at.UTC().Format(w.T("account_time_layout")) }

// Tag returns the language tag for the lang attribute.
func (w *Words) Tag() string {
	if w == nil {
		return english
	}
	return w.tag.String()
}

// Direction returns the direction of the language's script for the dir attribute.
func (w *Words) Direction() string {
	if w != nil {
		script, _ := w.tag.Script()
		if slices.Contains([]string{"Arab", "Hebr", "Syrc", "Thaa", "Nkoo"}, script.String()) {
			return "rtl"
		}
	}
	return "ltr"
}
