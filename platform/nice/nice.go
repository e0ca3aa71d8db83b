// Package nice gives this process a low priority, for bulk work that must leave the processors to others. It owns
// how each operating system is asked for that; which processes work in bulk is up to their callers.
package nice

// low is a nice value of POSIX: on Linux, a process with it gets a tenth of the time of a normal one if both could use
// a processor. With 19 it would get a seventieth, and bulk work would not end on a server that is always busy.
const low = 10
