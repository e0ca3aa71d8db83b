package kong

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"postern/bundle"
)

// released/<edition>.json has the sums of the files of an edition before the
// present one. earlier_test.go writes it.
//
//go:embed released/*.json
var releases embed.FS

// checkEarlier holds the gateway's files in an archive to the edition that wrote
// them, and its configuration to the project.
func checkEarlier(b *bundle.Build, edition int, open func(name string) (io.ReadCloser, error)) error {
	text, err := releases.ReadFile("released/" + strconv.Itoa(edition) + ".json")
	if err != nil {
		return fmt.Errorf("kong: edition %d: %w", edition, err)
	}
	var known map[string]bundle.Template
	if err := json.Unmarshal(text, &known); err != nil {
		return fmt.Errorf("kong: edition %d: %w", edition, err)
	}
	values := marks(b)
	for name, template := range known {
		file, err := open(name)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(file)
		file.Close()
		if err != nil || !template.Is(text, values) {
			return bundle.Differs(name)
		}
	}
	return sameSettings(b, open)
}

// sameSettings compares what gateway.yaml says, but for consumers and keys, with
// what it would say of the same project. bundle compares the keys with their rows.
func sameSettings(b *bundle.Build, open func(name string) (io.ReadCloser, error)) error {
	keyless := *b
	keyless.Options.Keys = bundle.KeysNone
	var text bytes.Buffer
	if err := writeConfig(context.Background(), &keyless, &text); err != nil {
		return err
	}
	want, err := readSettings(&text)
	if err != nil {
		return err
	}
	file, err := open(gatewayFile)
	if err != nil {
		return err
	}
	defer file.Close()
	got, err := readSettings(file)
	if err != nil || !reflect.DeepEqual(want, got) {
		return bundle.Differs(gatewayFile)
	}
	return nil
}

// readSettings decodes a configuration by JSON Pointer, value by value, so that a
// table of a million keys is passed over without being held.
func readSettings(r io.Reader) (map[string]any, error) {
	settings := map[string]any{}
	d := json.NewDecoder(r)
	return settings, readSetting(d, "", settings)
}

func readSetting(d *json.Decoder, at string, settings map[string]any) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	bracket, nested := token.(json.Delim)
	if !nested || at == "" && bracket != '{' {
		if !passedOver(at) {
			settings[at] = token
		}
		return nil
	}
	if !passedOver(at) {
		settings[at] = bracket.String()
	}
	for n := 0; d.More(); n++ {
		step := strconv.Itoa(n)
		if bracket == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			step = name.(string) // a decoder answers nothing else there
		}
		if strings.Count(at, "/") > maxDepth {
			return errors.New("it is nested too deeply")
		}
		if err := readSetting(d, at+"/"+step, settings); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

const maxDepth = 16

func passedOver(at string) bool {
	return strings.HasPrefix(at, "/consumers/") || strings.HasPrefix(at, "/plugins/0/config/keys/")
}
