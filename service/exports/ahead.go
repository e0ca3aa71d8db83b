package exports

import (
	"fmt"
	"iter"
	"runtime/debug"
)

// Rows are read in batches of aheadRows, with at most aheadBatches in memory.
const (
	aheadRows    = 256
	aheadBatches = 4
)

// ahead returns what read returns, and reads in its own goroutine while the caller works with earlier rows. The
// goroutine has ended when the iteration has.
func ahead[T any](read iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		batches, stop := make(chan []T, aheadBatches), make(chan struct{})
		var failed error // once batches is closed
		go func() {
			defer close(batches)
			failed = readBatches(read, batches, stop)
		}()
		defer func() {
			close(stop)
			for range batches { // until the goroutine has ended
			}
		}()
		for batch := range batches {
			for _, row := range batch {
				if !yield(row, nil) {
					return
				}
			}
		}
		if failed != nil {
			var none T
			yield(none, failed)
		}
	}
}

// readBatches sends what read returns until stop is closed. A panic becomes an error, since
// no caller could recover from it.
func readBatches[T any](read iter.Seq2[T, error], batches chan<- []T, stop <-chan struct{}) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("panic: %v\n%s", failure, debug.Stack())
		}
	}()
	batch := make([]T, 0, aheadRows)
	send := func() bool {
		select {
		case batches <- batch:
			batch = make([]T, 0, aheadRows)
			return true
		case <-stop:
			return false
		}
	}
	for row, err := range read {
		if err != nil {
			send()
			return err
		}
		if batch = append(batch, row); len(batch) == aheadRows && !send() {
			return nil
		}
	}
	send()
	return nil
}
