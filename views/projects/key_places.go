package projects

import (
	"strconv"

	"postern/views/ui"
)

// KeyPlaceRow is a place where callers send their keys, on the form of a version's access. It posts key_in (header,
// query, cookie or websocket_protocol), key_in_name, key_in_prefix and key_in_prefix_use (required or optional), each
// once for every row.
type KeyPlaceRow struct {
	N        int    // place in the form
	ID       string // prefix of the ids
	Kind     string
	Name     ui.Value
	Prefix   ui.Value
	Optional bool   // the key can also come without the prefix
	New      bool   // it was added a moment ago, and gets the focus
	Error    string // about the row as a whole
}

// do is the value of the button that does something with the row.
func (r KeyPlaceRow) do(what string) string { return what + " " + strconv.Itoa(r.N) }

// SendMetadataText says whether the upstream gets the metadata of keys.
func SendMetadataText(send bool) string {
	if send {
		return "sent to the upstream"
	}
	return "not sent"
}

// sendMetadata is the checkbox about the metadata of keys.
func (a Access) sendMetadata(id string) ui.Group {
	return ui.Group{
		ID: id + "-key-send-metadata", Name: "key_send_metadata", Legend: "API key metadata",
		Options: []ui.Option{{
			Value: "true", Title: "Send to the upstream", Chosen: a.SendMetadata,
			Text: "Your upstream gets the metadata of the caller's key as JSON in the X-Consumer-Metadata header.",
		}},
	}
}

func (r KeyPlaceRow) kinds() []ui.Option {
	option := func(value, title string) ui.Option {
		return ui.Option{Value: value, Title: title, Chosen: r.Kind == value}
	}
	return []ui.Option{
		option("header", "Header"),
		option("query", "Query parameter"),
		option("cookie", "Cookie"),
		option("websocket_protocol", "WebSocket protocol"),
	}
}

func (r KeyPlaceRow) uses() []ui.Option {
	return []ui.Option{
		{Value: "required", Title: "Required", Chosen: !r.Optional},
		{Value: "optional", Title: "Optional", Chosen: r.Optional},
	}
}

func (r KeyPlaceRow) label() string {
	for _, kind := range r.kinds() {
		if kind.Chosen && r.Name.Text != "" {
			return kind.Title + " " + r.Name.Text
		} else if kind.Chosen {
			return kind.Title
		}
	}
	return "New place"
}
