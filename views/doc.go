// Package views has no code of its own: each folder below it is a family of
// pages with the view models they are given, and ui holds the parts they share.
// Its tests render every state of every page.
package views
