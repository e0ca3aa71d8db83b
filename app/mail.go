package app

import (
	"postern/platform/config"
	"postern/platform/mail"
)

// newSender returns the sender of the configured mail server, nil if there is none.
func newSender(c config.Mail) (*mail.Sender, error) {
	if !c.Enabled() {
		return nil, nil //nolint:nilnil // no sender, and no error
	}
	return mail.New(c)
}
