package web

import "strings"

// browsers and systems are the names to look for in a User-Agent, the most specific first:
// each browser also names its predecessors.
var (
	browsers = [][2]string{
		{"Edg/", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"CrOS", "ChromeOS"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"Linux", "Linux"},
	}
)

// BrowserName returns the common name of the browser and system in a User-Agent.
func BrowserName(userAgent string) string {
	browser, system := firstIn(userAgent, browsers), firstIn(userAgent, systems)
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "":
		return browser
	case userAgent == "":
		return "Unknown browser"
	}
	name, _, _ := strings.Cut(userAgent, " ")
	return name
}

func firstIn(userAgent string, marks [][2]string) string {
	for _, mark := range marks {
		if strings.Contains(userAgent, mark[0]) {
			return mark[1]
		}
	}
	return ""
}
