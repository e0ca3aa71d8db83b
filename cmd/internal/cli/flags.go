package cli

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// AddServerFlag adds --server, which OpenSession reads.
func AddServerFlag(c *cobra.Command) {
	c.Flags().String("server", "", "URL of the Postern server. Defaults to the current context's server")
}

// TeamFlag adds the flag that names the team of a new object to a command that has its function already: the error of a
// team that isn't found names the flag.
func TeamFlag(t terminal.Terminal, command *cobra.Command, team *string) {
	run := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		given := *team
		if given == "" {
			return run(c, args)
		}
		into := reflect.ValueOf(team).Elem()
		if err := useIDs(t, c, []named{{kind: "team", shown: "--team", given: given, into: into}}); err != nil {
			return err
		}
		return nameAbsent(run(c, args), []reference{{noun: "team", name: given, flag: "--team"}}, nil)
	}
	usage := withName("team", "ID of the project's team. Defaults to your first team")
	command.Flags().StringVar(team, "team", "", usage)
	CompleteNames(t, command, "team")
}

// PageFlags adds --limit and --cursor to a command that prints one page of a list. usual is the size of a page without
// --limit, and most is the size of the largest one.
func PageFlags(c *cobra.Command, page *contract.Page, usual, most int) {
	c.Flags().IntVar(&page.Limit, "limit", usual, "maximum number of entries to list")
	c.Flags().StringVar(&page.Cursor, "cursor", "", "cursor from the output of the previous page (next_cursor in JSON)")
	terminal.AllowEmpty(c.Flag("cursor")) // a script that reads all pages doesn't have one at first
	c.PreRunE = func(*cobra.Command, []string) error {
		if page.Limit < 1 || page.Limit > most {
			return terminal.UsageError(fmt.Sprintf("--limit must be from 1 to %d", most))
		}
		return nil
	}
}

// LimitFlag adds --limit to a command that prints a list; without it, most is 0 and the whole list is printed.
func LimitFlag(c *cobra.Command, most *int) {
	c.Flags().Var(&limitFlag{most}, "limit", "maximum number of items to list. Defaults to all")
}

// limitFlag sets a number of items.
type limitFlag struct{ most *int }

// String implements pflag.Value.
func (f *limitFlag) String() string { return "" }

// Type implements pflag.Value.
func (f *limitFlag) Type() string { return "int" }

// Set implements pflag.Value.
func (f *limitFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return numberError(err, "a whole number above 0")
	}
	*f.most = n
	return nil
}

// SayMore says that a list has more items than the number that was printed. cursor is where they begin, "" for a list
// without --cursor.
func SayMore(t terminal.Terminal, printed int, cursor string) {
	of := terminal.Count{N: int64(printed), One: "item"}
	if cursor == "" {
		fmt.Fprintf(t.Err, "Showing the first %s. To see more, use a larger --limit.\n", of)
		return
	}
	fmt.Fprintf(t.Err, "Showing the first %s. To see more, use a larger --limit, or --cursor %s.\n", of, cursor)
}

// usageOf is a member's doc as the help of its flag, whose values differ from those of JSON.
func usageOf(m contract.Member) string {
	usage := withName(m.IDOf, cmp.Or(m.Help, m.Doc))
	if m.Form == durationForm {
		usage = strings.Replace(usage, ", in seconds", "", 1)
	}
	if m.Form == millisecondsForm {
		usage = strings.Replace(usage, ", in milliseconds", "", 1)
	}
	const times = "(such as 2030-01-31, 2030-01-31T12:00:00Z, or "
	if m.Form == timeForm {
		usage = strings.Replace(usage, "(RFC 3339)", times+"90d for 90 days from now)", 1)
	}
	if m.Form == pastForm {
		usage = strings.Replace(usage, "(RFC 3339)", times+"7d for 7 days ago)", 1)
	}
	usage = strings.Replace(usage, "Use null for", `Use "`+m.Null+`" for`, 1)
	usage = strings.Replace(usage, "Use null to", `Use "`+m.Null+`" to`, 1)
	usage = strings.Replace(usage, "Leave empty for", `Use "" for`, 1)
	if m.Elem() == limitsType {
		usage = afterSubject(usage, " (such as minute=100,day=5000)")
		usage = strings.Replace(usage, "Use {} for", `Use "`+noLimits+`" for`, 1)
		usage = strings.Replace(usage, ", or null for", `, or "`+m.Null+`" for`, 1)
	}
	if m.Enum != nil {
		usage = afterSubject(usage, ": "+english.WordSeries(m.Enum, "or"))
	}
	usage = lowerFirst(usage)
	if m.Form == fileForm {
		usage = "file with the " + usage + ", or - for standard input"
	}
	if repeatable(m) {
		usage += " (repeatable)"
	}
	return usage
}

// repeatable reports whether the flag of a member is given once for each value.
func repeatable(m contract.Member) bool {
	return m.Elem().Kind() == reflect.Slice && m.Form != listForm
}

// lowerFirst returns a text with a small first letter, except for words such as URL and names such as Auth0.
func lowerFirst(text string) string {
	if strings.HasPrefix(text, "Auth0 ") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	if second, _ := utf8.DecodeRuneInString(text[size:]); unicode.IsUpper(second) {
		return text
	}
	return string(unicode.ToLower(first)) + text[size:]
}

// afterSubject adds a text to a description, at the end of its first clause.
func afterSubject(description, text string) string {
	end := len(description)
	for _, mark := range []string{"; ", ". "} {
		if i := strings.Index(description, mark); i >= 0 {
			end = min(end, i)
		}
	}
	return description[:end] + text + description[end:]
}

// NameMember says which flag of a command sets a member of the request.
func NameMember(c *cobra.Command, m contract.Member) {
	pointer := "/" + m.Name
	if m.Within != "" {
		pointer = "/" + strings.ReplaceAll(m.Within, ".", "/") + pointer
	}
	terminal.NamePointer(c, pointer, "--"+m.Flag)
}

// addMemberFlag adds the flag that sets a member, and returns it. Shells complete the value of an enum.
func addMemberFlag(t terminal.Terminal, c *cobra.Command, m contract.Member, into reflect.Value) *pflag.Flag {
	flag := c.Flags().VarPF(&memberFlag{member: m, into: into}, m.Flag, "", usageOf(m))
	if m.Elem().Kind() == reflect.Bool {
		flag.NoOptDefVal = "true"
	}
	completeFlag(t, c, m, strings.Fields(c.Annotations[namesKey]))
	return flag
}

// The forms of flags whose text isn't the member's own; see package contract.
const (
	durationForm = "duration" // in seconds

	millisecondsForm = "milliseconds" // a duration, too

	timeForm = "time"
	pastForm = "past"
	listForm = "list"
	fileForm = "file" // with the value; "-" is standard input
)

// limitsType is the type of limits, which flags have as WINDOW=CALLS with commas between them.
var limitsType = reflect.TypeFor[contract.Limits]()

// metadataType is the type of metadata, which flags have as JSON.
var metadataType = reflect.TypeFor[contract.Metadata]()

const noLimits = "none"

// ValueFlags adds a flag for each member of a value, and returns the flags with their dashes. replace sets the members
// that flags were given for, and reports whether there are any.
func ValueFlags[Value any](t terminal.Terminal, c *cobra.Command) (flags []string, replace func(*Value) bool) {
	given := reflect.New(reflect.TypeFor[Value]()).Elem()
	var members []contract.Member
	for _, m := range contract.MembersOfBody(given.Type()) {
		if m.Flag == "" {
			continue
		}
		flag := addMemberFlag(t, c, m, given.FieldByIndex(m.Index))
		if m.Enum == nil { // the value exists already, and may be emptied
			terminal.AllowEmpty(flag)
		}
		NameMember(c, m)
		members, flags = append(members, m), append(flags, "--"+m.Flag)
	}
	return flags, func(now *Value) bool {
		changed := false
		for _, m := range members {
			if c.Flags().Changed(m.Flag) {
				reflect.ValueOf(now).Elem().FieldByIndex(m.Index).Set(given.FieldByIndex(m.Index))
				changed = true
			}
		}
		return changed
	}
}

// NothingToChange is the error of a command that changes something and was given none of its flags.
func NothingToChange(flags ...string) error {
	return terminal.UsageError("nothing to change: use " + english.WordSeries(flags, "or"))
}

// MemberFlags adds a flag for each member of a value. The function that it returns sets the members that files have,
// and reports whether a flag was given.
func MemberFlags(t terminal.Terminal, c *cobra.Command, value any) (read func() (given bool, err error)) {
	into := reflect.ValueOf(value).Elem()
	var names []string
	var files []*fileFlag
	for _, m := range contract.MembersOfBody(into.Type()) {
		switch {
		case m.Flag == "":
			continue
		case m.Form == fileForm:
			file := &fileFlag{t: t, name: m.Flag, into: into.FieldByIndex(m.Index)}
			c.Flags().Var(file, m.Flag, usageOf(m))
			files = append(files, file)
		default:
			addMemberFlag(t, c, m, into.FieldByIndex(m.Index))
		}
		names = append(names, m.Flag)
	}
	return func() (bool, error) {
		for _, file := range files {
			if err := file.read(); err != nil {
				return false, err
			}
		}
		return slices.ContainsFunc(names, c.Flags().Changed), nil
	}
}

// NameMembers names the flags of MemberFlags for errors about the value at a JSON Pointer.
func NameMembers(c *cobra.Command, value any, pointer string) {
	for _, m := range contract.MembersOfBody(reflect.TypeOf(value).Elem()) {
		if m.Flag != "" {
			within := ""
			if m.Within != "" {
				within = "/" + strings.ReplaceAll(m.Within, ".", "/")
			}
			terminal.NamePointer(c, pointer+within+"/"+m.Name, "--"+m.Flag)
		}
	}
}

// memberFlag sets a member of a request. A pointer is nil until the flag is given.
type memberFlag struct {
	member contract.Member
	into   reflect.Value
}

// String implements pflag.Value: members have no default values here.
func (f *memberFlag) String() string { return "" }

// Type implements pflag.Value: what help calls the value.
func (f *memberFlag) Type() string {
	switch f.member.Elem().Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64:
		if f.member.Form == millisecondsForm {
			return durationForm
		}
		return cmp.Or(f.member.Form, "int")
	case reflect.Slice:
		return cmp.Or(f.member.Form, "string")
	}
	switch {
	case f.member.Elem() == limitsType:
		return "limits"
	case f.member.Elem() == metadataType:
		return "json"
	case f.member.Form == pastForm:
		return timeForm
	}
	return cmp.Or(f.member.Form, "string")
}

// IsBoolFlag makes help show the values of a switch, which can also be turned off.
func (f *memberFlag) IsBoolFlag() bool { return f.member.Elem().Kind() == reflect.Bool }

// Set implements pflag.Value.
func (f *memberFlag) Set(text string) error {
	into := f.into
	optional := f.member.Elem() != into.Type() && into.Kind() == reflect.Struct
	if optional {
		into.FieldByName("Sent").SetBool(true)
		into = into.FieldByName("Value")
	}
	if text == f.member.Null && (optional || text != "") {
		into.SetZero()
		return nil
	}
	if into.Kind() == reflect.Pointer {
		if into.IsNil() {
			into.Set(reflect.New(f.member.Elem()))
		}
		into = into.Elem()
	}
	switch kind := f.member.Elem().Kind(); {
	case f.member.Elem() == metadataType:
		return setMetadata(into.Addr().Interface().(*contract.Metadata), text)
	case f.member.Elem() == limitsType:
		return setLimits(into.Addr().Interface().(*contract.Limits), text)
	case f.member.Form == timeForm:
		at, err := readTime(text, time.Now())
		if err != nil {
			return err
		}
		into.Set(reflect.ValueOf(at))
	case f.member.Form == pastForm:
		at, err := readPast(text, time.Now())
		if err != nil {
			return err
		}
		into.Set(reflect.ValueOf(at))
	case f.member.Form == listForm:
		values, err := csv.NewReader(strings.NewReader(text)).Read()
		if err != nil && !errors.Is(err, io.EOF) { // which it is for an empty text
			return terminal.ValueError("values separated by commas")
		}
		if into.IsNil() {
			into.Set(reflect.MakeSlice(into.Type(), 0, len(values))) // null is not an empty list
		}
		for _, value := range values {
			into.Set(reflect.Append(into, reflect.ValueOf(value).Convert(into.Type().Elem())))
		}
	case f.member.Form == durationForm:
		d, err := readDuration(text)
		if err != nil || d%time.Second != 0 {
			return durationError(err, "a duration in whole seconds, such as 24h, 7d or 0")
		}
		into.SetInt(int64(d / time.Second))
	case f.member.Form == millisecondsForm:
		d, err := readDuration(text)
		if err != nil || d%time.Millisecond != 0 {
			return durationError(err, "a duration in whole milliseconds, such as 30s, 1500ms or 2m")
		}
		into.SetInt(d.Milliseconds())
	case kind == reflect.Bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return terminal.ValueError("true or false")
		}
		into.SetBool(on)
	case kind == reflect.Int, kind == reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil && f.member.Null != "" {
			return numberError(err, "a whole number or "+f.member.Null)
		} else if err != nil {
			return numberError(err, "a whole number")
		}
		into.SetInt(n)
	case kind == reflect.Slice:
		if into.IsNil() {
			into.Set(reflect.MakeSlice(into.Type(), 0, 1)) // null is not an empty list
		}
		if text != "" { // which empties the list
			one := reflect.New(into.Type().Elem())
			if value, ok := one.Interface().(interface{ SetText(text string) error }); !ok {
				one.Elem().SetString(text)
			} else if err := value.SetText(text); err != nil {
				return terminal.ValueError(err.Error())
			}
			into.Set(reflect.Append(into, one.Elem()))
		}
	default:
		into.SetString(text)
	}
	return nil
}

// fileFlag sets a member of a request to what a file has: a secret, because every user of a machine can read command
// lines, or a text that is usually in a file. The file is read when the command runs, so that a missing one is the same
// error as for every other file.
type fileFlag struct {
	t     terminal.Terminal
	name  string        // of the flag, without dashes
	into  reflect.Value // a pointer to a contract.Secret or a string
	path  string
	given bool
}

// String implements pflag.Value.
func (f *fileFlag) String() string { return "" }

// Type implements pflag.Value.
func (f *fileFlag) Type() string { return fileForm }

// Set implements pflag.Value.
func (f *fileFlag) Set(path string) error {
	f.path, f.given = path, true
	return nil
}

// read sets the member, if the flag was given. Without a path it empties a text, but never a secret.
func (f *fileFlag) read() error {
	read, isSecret := terminal.ReadText, f.into.Type() == reflect.TypeFor[*contract.Secret]()
	if isSecret {
		read = terminal.ReadSecret
	}
	text := ""
	switch {
	case f.path != "":
		var err error
		if text, err = read(f.t, f.path); err != nil {
			return terminal.OfFlag(f.name, err)
		}
	case !f.given || isSecret:
		return nil
	}
	value := reflect.New(f.into.Type().Elem())
	value.Elem().SetString(text)
	f.into.Set(value)
	return nil
}
