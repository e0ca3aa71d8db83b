package publish_test

import (
	"encoding/json"
	"testing"

	"postern/core/openapi/publish"
	"postern/core/snapshot"
)

// The document that stands for a missing one says where keys travel.
func TestGenerated_keyPlaces(t *testing.T) {
	v := &snapshot.Version{Name: "1.0.0", Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode: snapshot.Authenticate, Methods: []string{snapshot.APIKey}, Keyless: snapshot.Reject,
		APIKey: snapshot.APIKeyAuth{In: []snapshot.KeyPlace{
			{Header: "apikey"}, {Header: "Authorization", Prefix: "Bearer"}, {Header: "X-Key", Prefix: "Token"},
			{Query: "key"}, {Cookie: "session"}, {WebSocketProtocol: true},
		}},
	}}}
	doc := publish.Generated(&snapshot.Project{Name: "shop"}, v)
	components, _ := doc["components"].(map[string]any)
	got, err := json.Marshal(components["securitySchemes"])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"api_key":{"in":"header","name":"apikey","type":"apiKey"},` +
		`"api_key_2":{"scheme":"bearer","type":"http"},` +
		`"api_key_3":{"description":"The value is Token KEY.","in":"header","name":"X-Key","type":"apiKey"},` +
		`"api_key_4":{"in":"query","name":"key","type":"apiKey"},` +
		`"api_key_5":{"in":"cookie","name":"session","type":"apiKey"},` +
		`"api_key_6":{"description":"For WebSockets: offer the protocols postern and postern.key.KEY, with KEY in ` +
		`base64url without padding.","in":"header","name":"Sec-WebSocket-Protocol","type":"apiKey"}}`
	if string(got) != want {
		t.Errorf("the schemes are %s, want %s", got, want)
	}
	paths, _ := doc["paths"].(map[string]any)
	path, _ := paths["/{path}"].(map[string]any)
	operation, _ := path["get"].(map[string]any)
	security, err := json.Marshal(operation["security"])
	if err != nil || string(security) != `[{"api_key":[]},{"api_key_2":[]},{"api_key_3":[]},{"api_key_4":[]},`+
		`{"api_key_5":[]},{"api_key_6":[]}]` {
		t.Errorf("operations need %s, error %v", security, err)
	}
}
