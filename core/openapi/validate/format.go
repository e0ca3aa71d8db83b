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
		_, err = time.Parse(time.RFC3339, strings.ToUpper(value))
	case "uuid":
		return isUUID(value)
	case "ipv4", "ipv6":
		var address netip.Addr
		address, err = netip.ParseAddr(value)
		return err == nil && address.Is4() == (format == "ipv4") && address.Zone() == ""
	}
	return err == nil
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
