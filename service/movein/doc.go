// Package movein keeps the plans of imports of other gateways' files, applies them, and undoes imports.
//
// It owns the files that wait to be imported, the order of writing, the records of what an import has created, and the
// comparison with them when the same file is imported again. It leaves the meaning of a file to package core/movein,
// the rules for names, addresses and limits to the packages of their subjects, and the hidden stage of unfinished
// imports to models.DB.Import.
package movein
