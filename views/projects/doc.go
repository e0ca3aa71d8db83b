// Package projects holds the pages of proxied APIs: the list, a new one, what a
// new one shows once, its settings, its keys.
//
// It owns their models and markup; it does not own what a setting means or
// whether a value is right (projects, keys). Every form posts a hidden revision
// where two people could overwrite each other, and is answered by ConflictPage
// when they do, which is what If-Match and 412 (RFC 9110, 13.1.1) are to the API.
package projects
