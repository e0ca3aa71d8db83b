// Package contract is Postern's public interface: its resources, the requests for them, and the operations. The API,
// its client and the command line derive their routes, addresses, bodies, arguments and flags from here, so that each
// of these facts is stated once. The package decides nothing: the rules belong to the services, which take and return
// these types.
//
// Tags describe a member. path, query, header and json name it, as huma and encoding/json read them; doc, enum,
// default, minimum, maximum and maxLength describe and bound it. audit:"-" leaves it out of the audit log. flag is its
// command-line flag, if that has another name than the member: "overlap,duration" takes 24h for a number of seconds,
// "idle-timeout,milliseconds" 1500ms for a number of milliseconds, "expires,time" a time or 30d for 30 days from now,
// "from,past" a time or 7d for 7 days ago, ",list" comma-separated values, "client-secret-file,file" a file with a
// secret, and "-" means no flag. With ",each", the members of an object have their own flags. A third part, as in
// "expires,time,never", is the flag's value for null. slug:"true" marks a name that pages derive from the text that a
// person types. A request has RawBody instead of Body if the service reads the body itself, because it isn't an object,
// or isn't always JSON.
package contract

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Operation is an operation of the API.
type Operation struct {
	ID      string // its operationId, such as update-webhook
	Method  string
	Path    string // with the members that have a path tag, such as /api/v1/webhooks/{webhook}
	Status  int    // of its success; 0: 200
	Summary string // what it does, in a few words; also the short help of its command
	Doc     string // further sentences that callers should read

	Permission Permission // that callers need; "" if anyone can call it

	Body   string // media type of a body that is a file; "": JSON
	Answer string // media type of an answer that is a File or Events; "": JSON
	Ranges bool   // parts of the answer can be requested (RFC 9110, section 14)

	// Command is the command that does the same, "" if there is none: its words, then its arguments in capitals, which
	// are members that have a path tag or belong to the body.
	Command string
	Example string // of the command, without "postern"

	// Deletes names the kind of object that the operation deletes, such as "app client", if other objects depend on it
	// and it can't be restored. The command asks for confirmation.
	Deletes string
}

// Op is an operation whose requests are In and whose answers are Out. In has the parameters of the path and
// the query, and a member Body for the body. Out is None for an operation without an answer.
//
// It has few methods, with pointers as receivers, because they are compiled for each operation. What doesn't depend on
// In and Out is a method of Operation, or a function of the types.
type Op[In, Out any] struct{ Operation }

// Types returns the types of the operation's requests and answers.
func (op *Op[In, Out]) Types() (in, out reflect.Type) {
	return reflect.TypeFor[In](), reflect.TypeFor[Out]()
}

// Members returns the members of the operation's requests.
func (op *Op[In, Out]) Members() []Member { return MembersOf(reflect.TypeFor[In]()) }

// Describe returns the part of the operation that doesn't depend on its types.
func (op *Op[In, Out]) Describe() *Operation { return &op.Operation }

// Described is an operation with any types.
type Described interface {
	Describe() *Operation
	Members() []Member
	Types() (in, out reflect.Type)
}

// Operations returns all operations of the contract.
func Operations() []Described {
	return slices.Concat(
		accountOperations,
		apiScopeOperations,
		appClientOperations,
		auditOperations,
		corsOperations,
		diagnosisOperations,
		domainOperations,
		environmentOperations,
		explainOperations,
		exportOperations,
		groupMappingOperations,
		groupOperations,
		importOperations,
		keyOperations,
		keyTypeOperations,
		openAPIDocumentOperations,
		openAPISettingsOperations,
		productOperations,
		projectOperations,
		proxyOperations,
		providerOperations,
		relationOperations,
		requestOperations,
		ruleCountOperations,
		ruleOperations,
		signupOperations,
		teamOperations,
		tenantOperations,
		tokenOperations,
		transformOperations,
		upstreamOperations,
		usageOperations,
		userOperations,
		versionOperations,
		webhookOperations,
	)
}

// Words returns the words of the operation's command, and the arguments after them.
func (o *Operation) Words() (words, arguments []string) {
	all := strings.Fields(o.Command)
	for i, word := range all {
		if word == strings.ToUpper(word) {
			return all[:i], all[i:]
		}
	}
	return all, nil
}

// None is the answer of operations without an answer.
type None struct{}

// File is an answer of any size that is sent unchanged. Its receiver closes it. With Ranges it is an io.Seeker.
type File struct {
	Name    string // to save it under
	Size    int64  // in bytes
	SHA256  string // in hexadecimal; "" if it has no ETag
	WroteAt time.Time
	io.ReadCloser
}

// Events is an answer that is a stream of server-sent events (WHATWG HTML, 9.2), each with an Item as its data.
type Events[Item any] struct{}

// EventStream is the media type of Events.
const EventStream = "text/event-stream"

// Condition allows a change only if the resource hasn't changed since the caller read it (RFC 9110, 13.1.1).
type Condition struct {
	IfMatch string `header:"If-Match" flag:"-"` // an ETag; "" makes the change unconditional
}

// Conditional returns c. It gives access to the condition in any request that embeds one, whose field already has the
// name Condition.
func (c *Condition) Conditional() *Condition { return c }

// Page selects a page of a list.
type Page struct {
	Cursor string `query:"cursor" flag:"-" doc:"next_cursor from the previous page"`
	Limit  int    `query:"limit" flag:"-" minimum:"1" maximum:"200" default:"50" doc:"Maximum number of items"`

	Count bool // requests the total; only for the dashboard
}

// List is one page of a list.
type List[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page; null on the last page"`
}
