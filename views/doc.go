// Package views contains only this comment: each folder below it is a family of
// pages with the view models they are given, and ui holds the parts they share.
// Its tests render every state of every page.
package views
