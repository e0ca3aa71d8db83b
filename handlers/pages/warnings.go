package pages

import (
	"postern/core/contract"
	"postern/platform/fault"
)

// warningTexts returns the texts of warnings, for the notices of a page.
func warningTexts(list []fault.Warning, err error) ([]string, error) {
	var texts []string
	for _, one := range list {
		texts = append(texts, one.Detail)
	}
	return texts, err
}

// noticesOf returns the texts of warnings in an answer.
func noticesOf(list []contract.Warning) (texts []string) {
	for _, one := range list {
		texts = append(texts, one.Detail)
	}
	return texts
}
