package openapi

import "postern/core/openapi/tree"

// maxReferred bounds the objects that references lead to, each counted as often as a reference leads to
// it: the library goes through them that often. Documents of 1 MB have about 30,000.
const maxReferred = 10_000_000

// checkReferences refuses a document whose references repeat too much of it.
func checkReferences(data []byte) error {
	doc, err := tree.Read(data)
	if err != nil {
		return refuse("The document is no object: %s.", err)
	}
	times := map[string]int{}
	eachObject(doc.Root, func(object map[string]any) bool {
		if ref, refers := object["$ref"].(string); refers {
			times[ref]++
		}
		return true
	})
	left := maxReferred
	for ref, n := range times {
		size, most := 0, left/n
		eachObject(doc.LookUp(ref), func(map[string]any) bool {
			size++
			return size <= most
		})
		if left -= n * size; left < 0 {
			return refuse("References repeat too much of the document: together they lead to more than %d objects. "+
				"Refer to large schemas less often.", maxReferred)
		}
	}
	return nil
}

// eachObject calls fn with the objects of a JSON value until it returns false, and reports whether it
// never did.
func eachObject(value any, fn func(map[string]any) bool) bool {
	switch node := value.(type) {
	case map[string]any:
		if !fn(node) {
			return false
		}
		for _, child := range node {
			if !eachObject(child, fn) {
				return false
			}
		}
	case []any:
		for _, child := range node {
			if !eachObject(child, fn) {
				return false
			}
		}
	}
	return true
}
