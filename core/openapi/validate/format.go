package validate

import (
	"net/netip"
	"strings"
	"time"
)

// hasFormat checks the formats that leave no doubt; others are only annotations.
func hasFormat(format, value string) bool {
	var err error
	switch format {
	case "date":
		_, err = time.Parse(time.DateOnly, value)
	case "date-time":
		return isTime(strings.ToUpper(value))
	case "uuid":
		return isUUID(value)
	case "ipv4", "ipv6":
		var address netip.Addr
		address, err = netip.ParseAddr(value)
		return err == nil && address.Is4() == (format == "ipv4") && address.Zone() == ""
	}
	return err == nil
}

// isTime reports whether a text is a date and a time of RFC 3339. A leap second is the last one of a day in UTC.
func isTime(value string) bool {
	const second = len("2016-12-31T23:59:")
	leap := len(value) > second+2 && value[second:second+2] == "60"
	if leap {
		value = value[:second] + "59" + value[second+2:]
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil || !leap {
		return err == nil
	}
	hour, minute, _ := at.UTC().Clock()
	return hour == 23 && minute == 59
}

func isUUID(value string) bool {
	if len(value) != 36 {
		return false
	}
	for i := range len(value) {
		switch c := value[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}
