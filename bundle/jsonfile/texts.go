package jsonfile

import "encoding/json"

// Texts returns the texts among the members of an object, none for what is not one.
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
