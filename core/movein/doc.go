// Package movein plans what Postern makes of another gateway's file: projects with their versions, environments and
// custom domains, owners with their keys and groups, and for each entity of the file how exactly it moves.
//
// It fails closed: a route behind something that checks or blocks calls, and that can't be imported, stays closed
// unless it is opened by name. It leaves the file's form to core/kongfile, and writing to others. It makes no
// connections. A plan in JSON has no secret and no hash of a key, since weak keys can be guessed from their hashes.
package movein
