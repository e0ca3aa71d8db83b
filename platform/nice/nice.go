// Package nice gives this process the lowest priority, for bulk work that must leave the processors to others. It owns
// how each operating system is asked for that; which processes work in bulk is up to their callers.
package nice

// lowest is the nice value of POSIX that yields to every other process of the machine.
const lowest = 19
