package cli

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// AddServerFlag adds --server, which OpenSession reads.
func AddServerFlag(c *cobra.Command) {
	c.Flags().String("server", "", "address of the Postern server (POSTERN_SERVER) (default "+defaultServer+")")
}

// TeamFlag adds the flag that names the team of a new object.
func TeamFlag(command *cobra.Command, team *string) {
	command.Flags().StringVar(team, "team", "", "id of its team (default: your first one); see "+
		"postern teams list")
}

// PageFlags adds --limit and --cursor to a command that prints one page of a list. most is the size of the largest one.
func PageFlags(c *cobra.Command, page *contract.Page, most int) {
	c.Flags().IntVar(&page.Limit, "limit", 50, "number of entries to list")
	c.Flags().StringVar(&page.Cursor, "cursor", "", "next_cursor of an earlier page")
	c.PreRunE = func(*cobra.Command, []string) error {
		if page.Limit < 1 || page.Limit > most {
			return terminal.UsageError(fmt.Sprintf("--limit is 1 to %d", most))
		}
		return nil
	}
}

// usageOf is a member's doc as the help of its flag, whose values differ from those of JSON.
func usageOf(m contract.Member) string {
	usage := m.Doc
	if m.Form == durationForm {
		usage = strings.Replace(usage, ", in seconds", "", 1)
	}
	if m.Form == timeForm {
		usage = strings.Replace(usage, " (RFC 3339)", ": a time such as 2030-01-31T12:00:00Z, or 90d from now", 1)
	}
	if m.Form == pastForm {
		usage = strings.Replace(usage, " (RFC 3339)", ": a time such as 2030-01-31T12:00:00Z, or how long ago, "+
			"such as 7d", 1)
	}
	usage = strings.Replace(usage, "null:", cmp.Or(m.Null, `""`)+":", 1)
	if m.Elem() == limitsType {
		usage = strings.Replace(usage, "{}:", noLimits+":", 1) + "; such as minute=100,day=5000"
	}
	if m.Form == fileForm {
		usage += ": a file with it, or - for standard input"
	}
	first, size := utf8.DecodeRuneInString(usage)
	if second, _ := utf8.DecodeRuneInString(usage[size:]); !unicode.IsUpper(second) { // URL keeps its capitals
		usage = string(unicode.ToLower(first)) + usage[size:]
	}
	if m.Enum != nil {
		usage += " (" + strings.Join(m.Enum, ", ") + ")"
	}
	if m.Elem().Kind() == reflect.Slice && m.Form != listForm {
		usage += "; repeatable"
	}
	return usage
}

func addMemberFlag(c *cobra.Command, m contract.Member, into reflect.Value) {
	flag := c.Flags().VarPF(&memberFlag{member: m, into: into}, m.Flag, "", usageOf(m))
	if m.Elem().Kind() == reflect.Bool {
		flag.NoOptDefVal = "true"
	}
}

// The forms of flags whose text isn't the member's own; see package contract.
const (
	durationForm = "duration"
	timeForm     = "time"
	pastForm     = "past"
	listForm     = "list"
	fileForm     = "file" // with a secret; "-" is standard input
)

// limitsType is the type of limits, which flags have as WINDOW=CALLS with commas between them.
var limitsType = reflect.TypeFor[contract.Limits]()

const noLimits = "none"

// ValueFlags adds a flag for each member of a value. The function that it returns replaces the members that flags were
// given for, and refuses to do without any.
func ValueFlags[Value any](c *cobra.Command) func(*Value) error {
	given := reflect.New(reflect.TypeFor[Value]()).Elem()
	var members []contract.Member
	for _, m := range contract.MembersOfBody(given.Type()) {
		if m.Flag != "" {
			addMemberFlag(c, m, given.FieldByIndex(m.Index))
			members = append(members, m)
		}
	}
	return func(now *Value) error {
		changed := false
		for _, m := range members {
			if c.Flags().Changed(m.Flag) {
				reflect.ValueOf(now).Elem().FieldByIndex(m.Index).Set(given.FieldByIndex(m.Index))
				changed = true
			}
		}
		if !changed {
			return terminal.UsageError("nothing to change: give --" + members[0].Flag + " or another flag")
		}
		return nil
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
		return cmp.Or(f.member.Form, "int")
	case reflect.Slice:
		return cmp.Or(f.member.Form, "string")
	}
	switch {
	case f.member.Elem() == limitsType:
		return "limits"
	case f.member.Form == pastForm:
		return timeForm
	}
	return cmp.Or(f.member.Form, "string")
}

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
			return errors.New("use values with commas between them")
		}
		if into.IsNil() {
			into.Set(reflect.MakeSlice(into.Type(), 0, len(values))) // null is not an empty list
		}
		into.Set(reflect.AppendSlice(into, reflect.ValueOf(values)))
	case f.member.Form == durationForm:
		d, err := readDuration(text)
		if err != nil || d%time.Second != 0 {
			return errors.New("use a duration in whole seconds, such as 24h, 7d or 0")
		}
		into.SetInt(int64(d / time.Second))
	case kind == reflect.Bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("use true or false")
		}
		into.SetBool(on)
	case kind == reflect.Int, kind == reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil && f.member.Null != "" {
			return errors.New("use a whole number, or " + f.member.Null)
		} else if err != nil {
			return errors.New("use a whole number")
		}
		into.SetInt(n)
	case kind == reflect.Slice:
		if into.IsNil() {
			into.Set(reflect.MakeSlice(into.Type(), 0, 1)) // null is not an empty list
		}
		if text != "" { // which empties the list
			into.Set(reflect.Append(into, reflect.ValueOf(text)))
		}
	default:
		into.SetString(text)
	}
	return nil
}

// secretFlag sets a secret of a request to what a file has, because every user of a machine can read command lines.
type secretFlag struct {
	t    terminal.Terminal
	into reflect.Value // a *contract.Secret
}

// String implements pflag.Value.
func (f *secretFlag) String() string { return "" }

// Type implements pflag.Value.
func (f *secretFlag) Type() string { return fileForm }

// Set implements pflag.Value.
func (f *secretFlag) Set(path string) error {
	secret, err := terminal.ReadSecret(f.t, path)
	if err == nil {
		f.into.Set(reflect.ValueOf(new(contract.Secret(secret))))
	}
	return err
}
