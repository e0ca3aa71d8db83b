package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"postern/core/filelimits"
)

// FromJSON returns the value of a JSON text.
func FromJSON(text []byte) (Value, error) {
	counts := filelimits.Count(text)
	limit := counts.Exceeded(filelimits.GatewayValues, filelimits.GatewayValues, filelimits.GatewayNesting)
	if limit != nil {
		return Value{}, Beyond(limit)
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	r := jsonReader{in: in, text: text, line: 1}
	v, err := r.value()
	if err != nil {
		return Value{}, err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return Value{}, Refuse(r.here(), "The file contains text after the JSON object. Remove it.")
	}
	return v, nil
}

// jsonReader turns tokens into values with their lines.
type jsonReader struct {
	in   *json.Decoder
	text []byte
	at   int // up to which lines are counted
	line int
}

// here returns the line of the token that was read last.
func (r *jsonReader) here() int {
	to := min(int(r.in.InputOffset()), len(r.text))
	r.line += bytes.Count(r.text[r.at:max(to, r.at)], []byte("\n"))
	r.at = max(to, r.at)
	return r.line
}

func (r *jsonReader) token() (json.Token, error) {
	token, err := r.in.Token()
	if err != nil {
		return nil, Refuse(r.here(), "The file isn't valid JSON near this line. Check its commas, quotes and brackets.")
	}
	return token, nil
}

func (r *jsonReader) value() (Value, error) {
	token, err := r.token()
	if err != nil {
		return Value{}, err
	}
	v := Value{Line: r.here()}
	switch token := token.(type) {
	case nil:
		v.Kind = Null
	case string:
		v.Kind, v.Text = Text, token
	case json.Number:
		v.Kind, v.Text = Number, token.String()
	case bool:
		v.Kind, v.Text = Bool, "false"
		if token {
			v.Text = "true"
		}
	case json.Delim:
		if token == '{' {
			return r.object(v)
		}
		return r.list(v)
	}
	return v, nil
}

func (r *jsonReader) list(v Value) (Value, error) {
	v.Kind = List
	for r.in.More() {
		item, err := r.value()
		if err != nil {
			return Value{}, err
		}
		v.Items = append(v.Items, item)
	}
	_, err := r.token()
	return v, err
}

func (r *jsonReader) object(v Value) (Value, error) {
	v.Kind = Object
	seen := map[string]int{}
	for r.in.More() {
		token, err := r.token()
		if err != nil {
			return Value{}, err
		}
		name, line := token.(string), r.here() //nolint:forcetypeassert // the decoder takes no other name
		if first, twice := seen[name]; twice {
			return Value{}, twiceError(line, name, first)
		}
		if int64(len(name)) > filelimits.GatewayName.Most {
			return Value{}, longName(line)
		}
		seen[name] = line
		value, err := r.value()
		if err != nil {
			return Value{}, err
		}
		v.Members = append(v.Members, Member{name, value})
	}
	_, err := r.token()
	return v, err
}
