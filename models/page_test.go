package models_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"postern/models"
)

func TestPageSize(t *testing.T) {
	for _, tt := range []struct{ limit, want int }{
		{-1, models.DefaultLimit},
		{0, models.DefaultLimit},
		{1, 1},
		{models.MaxLimit, models.MaxLimit},
		{models.MaxLimit + 1, models.MaxLimit},
	} {
		t.Run(strconv.Itoa(tt.limit), func(t *testing.T) {
			if got := (models.Page{Limit: tt.limit}).Size(); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	tests := map[string]struct {
		rows []int
		want models.List[int]
	}{
		"empty":           {nil, models.List[int]{}},
		"a part of page":  {[]int{7}, models.List[int]{Items: []int{7}}},
		"the whole page":  {[]int{7, 8}, models.List[int]{Items: []int{7, 8}}},
		"one row beyond":  {[]int{7, 8, 9}, models.List[int]{Items: []int{7, 8}, Next: "8"}},
		"two rows beyond": {[]int{7, 8, 9, 10}, models.List[int]{Items: []int{7, 8}, Next: "8"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := models.Cut(tt.rows, models.Page{Limit: 2}, strconv.Itoa)
			if !slices.Equal(got.Items, tt.want.Items) {
				t.Errorf("items %v, want %v", got.Items, tt.want.Items)
			}
			if got.Next != tt.want.Next {
				t.Errorf("next %q, want %q", got.Next, tt.want.Next)
			}
		})
	}
}

func TestMapList(t *testing.T) {
	got := models.MapList(models.List[int]{Items: []int{1, 2}, Next: "2"}, strconv.Itoa)
	if !slices.Equal(got.Items, []string{"1", "2"}) {
		t.Errorf("items %v", got.Items)
	}
	if got.Next != "2" {
		t.Errorf("next %q", got.Next)
	}
}

func TestAllPages(t *testing.T) {
	pages := map[string]models.List[int]{
		"":  {Items: []int{1, 2}, Next: "2"},
		"2": {Items: []int{3}, Next: "3"},
		"3": {},
	}
	got, err := models.AllPages(func(p models.Page) (models.List[int], error) { return pages[p.Cursor], nil })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("got %v", got)
	}

	failed := errors.New("failed")
	_, err = models.AllPages(func(p models.Page) (models.List[int], error) {
		if p.Cursor == "2" {
			return models.List[int]{}, failed
		}
		return pages[p.Cursor], nil
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of the second page", err)
	}
}
