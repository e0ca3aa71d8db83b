package projects

import (
	"time"

	"postern/core/contract"
)

// upstreamTLSRows describe how the certificate of an environment's upstream is checked, where that isn't the default.
func upstreamTLSRows(u contract.Upstream) (rows [][2]string) {
	list, _ := u.CA.Certificates() // which the server has checked
	for _, one := range list {
		rows = append(rows, [2]string{
			"Certificate authority", one.Subject.String() + ", until " + one.NotAfter.UTC().Format(time.DateOnly),
		})
	}
	if !u.CA.TrustsSystem() {
		rows = append(rows, [2]string{"System authorities", "not trusted"})
	}
	if u.ServerName != nil && *u.ServerName != "" {
		rows = append(rows, [2]string{"Server name", *u.ServerName})
	}
	if name, callers := u.OwnHost(); name != "" || callers {
		rows = append(rows, [2]string{"Host header", *u.HostHeader})
	}
	return rows
}
