package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"postern/handlers/web"
	"postern/views/ui"
)

// The cookie of a flash is its key. If the flash names things or offers to undo the change, a dot, flashDetails and a
// MAC with the session's secret follow, so that a forged cookie shows no other text and leads to no other action.

// flashDetails are the details of a flash, in addition to its text.
type flashDetails struct {
	Names []string `json:"names,omitempty"`
	Undo  string   `json:"undo,omitempty"` // path of the form that undoes the change
}

const (
	flashMAC    = 16  // bytes
	longestName = 120 // characters: a cookie has 4096 bytes
)

// Done redirects to a page that shows the flash once. names are the names in its text.
func (v *Visit) Done(flash, path string, names ...string) (web.Answer, error) {
	return v.DoneUndo(flash, path, "", names...)
}

// DoneUndo is done with a button that posts to undo. An empty undo has no button.
func (v *Visit) DoneUndo(flash, path, undo string, names ...string) (web.Answer, error) {
	session := v.Server.Web.Sessions().Read(v.Gin.Request)
	cookie := flashCookie(session, flash, flashDetails{Names: names, Undo: undo})
	return web.Answer{Status: http.StatusSeeOther, To: path, Flash: cookie}, nil
}

func flashCookie(session, flash string, details flashDetails) string {
	if len(details.Names) == 0 && details.Undo == "" {
		return flash
	}
	for i, name := range details.Names {
		if long := []rune(name); len(long) > longestName {
			details.Names[i] = string(long[:longestName]) + "…"
		}
	}
	content, err := json.Marshal(details)
	if err != nil {
		return flash // strings can always be encoded
	}
	content = append(macOfFlash(session, flash, content), content...)
	return flash + "." + base64.RawURLEncoding.EncodeToString(content)
}

func macOfFlash(session, flash string, content []byte) []byte {
	mac := hmac.New(sha256.New, []byte(session))
	_, _ = io.WriteString(mac, "postern flash 1\x00"+flash+"\x00"+string(content)) // never fails
	return mac.Sum(nil)[:flashMAC]
}

// readFlash returns the notice of a cookie, false if it is of another session or was forged.
func readFlash(session, cookie string) (ui.Notice, bool) {
	key, sealed, detailed := strings.Cut(cookie, ".")
	text, ok := flashes[key]
	var details flashDetails
	if detailed && ok {
		content, err := base64.RawURLEncoding.DecodeString(sealed)
		if err != nil || session == "" || len(content) < flashMAC ||
			!hmac.Equal(content[:flashMAC], macOfFlash(session, key, content[flashMAC:])) ||
			json.Unmarshal(content[flashMAC:], &details) != nil {
			return ui.Notice{}, false
		}
	}
	if !ok || strings.Count(text, "%s") != len(details.Names) {
		return ui.Notice{}, false
	}
	return ui.Notice{Tone: ui.Good, Text: named(text, details.Names), Undo: details.Undo}, true
}

// named fills in the names of a text. After a name such as Acme Inc., a sentence needs no second period.
func named(text string, names []string) string {
	var out strings.Builder
	for _, name := range names {
		before, after, _ := strings.Cut(text, "%s")
		out.WriteString(before + name)
		if strings.ContainsAny(name[max(0, len(name)-1):], ".!?") {
			after = strings.TrimPrefix(after, ".")
		}
		text = after
	}
	return out.String() + text
}

func (v *Visit) takeFlash() *ui.Notice {
	cookie := v.Server.Web.Cookie(v.Gin.Request, web.FlashCookie)
	notice, ok := readFlash(v.Server.Web.Sessions().Read(v.Gin.Request), cookie)
	if !ok {
		return nil
	}
	v.Server.Web.SetCookie(v.Gin.Writer, web.FlashCookie, "", 0)
	return &notice
}
