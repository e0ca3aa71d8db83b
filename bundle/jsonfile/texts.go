package jsonfile

import "encoding/json"

// Texts returns the strings among the members of an object; none if the value isn't an object.
func Texts(object string) map[string]string {
	var members map[string]any
	if object == "" || json.Unmarshal([]byte(object), &members) != nil {
		return nil
	}
	texts := map[string]string{}
	for name, value := range members {
		if text, ok := value.(string); ok {
			texts[name] = text
		}
	}
	return texts
}
