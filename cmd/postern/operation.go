package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

// operationCommand returns the command of an operation of the contract: its arguments and flags are the members
// of the request. show prints the answer, unless it is printed as JSON.
func operationCommand[In, Out any](
	t terminal, as inName, op contract.Op[In, Out], show func(in In, out Out) error,
) *cobra.Command {
	var in In
	var none Out
	_, silent := any(none).(contract.None)
	command := requestCommand(t, as, op.Operation, &in, func(c *cobra.Command, api *client.Client) error {
		out, err := client.Do(c.Context(), api, op, in)
		if err != nil {
			return err
		}
		if !silent && wantsJSON(c) {
			return printJSON(t.out, out)
		}
		return show(in, out)
	})
	if !silent {
		addJSONFlag(command)
	}
	return command
}

// short gives a command another summary than that of its operation.
func short(summary string, c *cobra.Command) *cobra.Command {
	c.Short = summary
	return c
}

// factsCommand is operationCommand for an answer that is printed as names and values.
func factsCommand[In, Out any](
	t terminal, as inName, op contract.Op[In, Out], facts func(Out) [][2]string,
) *cobra.Command {
	return operationCommand(t, as, op, func(_ In, out Out) error { return printFacts(t, facts(out)) })
}

func printFacts(t terminal, facts [][2]string) error {
	return details(t.out, func(row func(...string)) {
		for _, fact := range facts {
			row(fact[0], fact[1])
		}
	})
}

// doneCommand returns the command of an operation without an answer. Its message names the last argument.
func doneCommand[In any](t terminal, as inName, op contract.Op[In, contract.None], said string) *cobra.Command {
	var in In
	return requestCommand(t, as, op.Operation, &in, func(c *cobra.Command, api *client.Client) error {
		if _, err := client.Do(c.Context(), api, op, in); err != nil {
			return err
		}
		_, err := fmt.Fprintf(t.out, said+"\n", printable(c.Flags().Arg(c.Flags().NArg()-1)))
		return err
	})
}

// listCommand is operationCommand for a list, all of which is printed: the row of each item below the headings.
func listCommand[In, Item any](
	t terminal, as inName, op contract.Op[In, contract.List[Item]], headings []string, cells func(Item) []string,
) *cobra.Command {
	var in In
	command := requestCommand(t, as, op.Operation, &in, func(c *cobra.Command, api *client.Client) error {
		items, err := collect(client.Each(c.Context(), api, op, in))
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSONList(t.out, items)
		}
		return table(t.out, func(row func(...string)) {
			row(headings...)
			for _, item := range items {
				row(cells(item)...)
			}
		})
	})
	addJSONFlag(command)
	return command
}

// requestCommand returns a command that fills in the request of an operation and runs with one of the credentials.
func requestCommand[In any](
	t terminal, as inName, op contract.Operation, in *In, run func(c *cobra.Command, api *client.Client) error,
) *cobra.Command {
	words, arguments := op.Words()
	into, members := reflect.ValueOf(in).Elem(), contract.MembersOf(reflect.TypeFor[In]())
	if body := into.FieldByName("Body"); body.IsValid() && body.Kind() == reflect.Pointer {
		body.Set(reflect.New(body.Type().Elem())) // for its flags
	}
	command := &cobra.Command{
		Use:   strings.Join(append(words[len(words)-1:], arguments...), " "),
		Short: op.Summary,
		Args:  exactly(arguments...),
	}
	if op.Example != "" {
		command.Example = "  postern " + op.Example
	}
	given := map[string]reflect.Value{}
	var flags, required []string
	for _, m := range members {
		if slices.Contains(arguments, m.Argument()) {
			given[m.Argument()] = into.FieldByIndex(m.Index)
		} else if m.Flag != "" {
			if m.Form == fileForm {
				command.Flags().Var(&secretFlag{t, into.FieldByIndex(m.Index)}, m.Flag, usageOf(m))
			} else {
				addMemberFlag(command, m, into.FieldByIndex(m.Index))
			}
			flags = append(flags, "--"+m.Flag)
			if m.Required {
				required = append(required, m.Flag)
				command.Use += " --" + m.Flag + " " + m.Argument()
			}
		}
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		for i, name := range arguments {
			given[name].SetString(args[i])
		}
		if op.Method == http.MethodPatch && !changesSomething(into) {
			return usageError("nothing to change: give " + english.WordSeries(flags, "or"))
		}
		for _, name := range required {
			if flag := c.Flag(name); !flag.Changed {
				return usageError("--" + name + " is missing: " + flag.Usage)
			}
		}
		return as(t, c, func(api *client.Client) error { return run(c, api) })
	}
	addServerFlag(command)
	return command
}

// changesSomething reports whether a request to change something has a member to change.
func changesSomething(request reflect.Value) bool {
	body := request.FieldByName("Body")
	return body.Kind() == reflect.Struct && !body.IsZero()
}

// filledCommand is operationCommand for a request with members that have no flags of their own: fill sets them from
// other flags, before the request is checked and sent.
func filledCommand[In, Out any](
	t terminal, as inName, op contract.Op[In, Out], in *In, fill func() error, show func(Out) error,
) *cobra.Command {
	command := requestCommand(t, as, op.Operation, in, func(c *cobra.Command, api *client.Client) error {
		out, err := client.Do(c.Context(), api, op, *in)
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSON(t.out, out)
		}
		return show(out)
	})
	send := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if err := fill(); err != nil {
			return err
		}
		return send(c, args)
	}
	addJSONFlag(command)
	return command
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

// valueFlags adds a flag for each member of a value. The function that it returns replaces the members that flags were
// given for, and refuses to do without any.
func valueFlags[Value any](c *cobra.Command) func(*Value) error {
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
			return usageError("nothing to change: give --" + members[0].Flag + " or another flag")
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
