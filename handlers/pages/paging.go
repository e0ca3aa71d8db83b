package pages

import (
	"fmt"
	"strconv"

	"postern/views/ui"
)

// pagingSize is how many things a page lists of what is loaded as a whole. Each takes about 1 KB of HTML.
const pagingSize = 100

// pageOf returns which of count things a page shows, from and to, and how to come to the others. page is the number in
// the query, and at the address of another one; a number that is none is the first page's.
func pageOf(things string, count int, page string, at func(page int) string) (from, to int, p ui.Paging) {
	number, err := strconv.Atoi(page)
	last := max(1, (count+pagingSize-1)/pagingSize)
	if err != nil || number < 1 || number > last {
		number = 1
	}
	from, to = (number-1)*pagingSize, min(number*pagingSize, count)
	p.Things = things
	if last == 1 {
		return from, to, p
	}
	p.Shown = fmt.Sprintf("%d to %d of %d %s", from+1, to, count, things)
	if number > 1 {
		p.PrevURL = at(number - 1)
	}
	if number < last {
		p.NextURL = at(number + 1)
	}
	return from, to, p
}
