package relations

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Reader reads relations from JSON: one object, a list of objects, or one object a line.
type Reader struct {
	text  *bufio.Reader
	json  *json.Decoder
	list  bool
	began bool
	read  int
}

// NewReader returns a Reader of a text.
func NewReader(text io.Reader) *Reader {
	r := &Reader{text: bufio.NewReader(text)}
	r.json = json.NewDecoder(r.text)
	r.json.DisallowUnknownFields()
	return r
}

// line is a relation as it is written.
type line struct {
	contract.NewRelation

	CreatedAt json.RawMessage `json:"created_at"` // of a list that was exported; not read
	TenantID  json.RawMessage `json:"tenant_id"`  // of relations.jsonl in a zip; not read
}

// Read returns the next relation, or io.EOF after the last. Its other errors are Invalid with the code
// invalid_relations.
func (r *Reader) Read() (contract.NewRelation, error) {
	one, err := r.next()
	if err == nil || errors.Is(err, io.EOF) {
		return one, err
	}
	return one, fault.InvalidField("", "invalid_relations", "Send {\"user\": …, \"object\": …}, a list of these, or "+
		"one per line. Include tenant and relation if needed. Error in relation %d: %v.", r.read+1, err).Because(err)
}

var errTrailing = errors.New("there is more text after the list")

func (r *Reader) next() (contract.NewRelation, error) {
	if !r.began {
		r.began = true
		if err := r.begin(); err != nil {
			return contract.NewRelation{}, err
		}
	}
	if r.list && !r.json.More() {
		if _, err := r.json.Token(); err != nil { // what ends the list
			return contract.NewRelation{}, noEOF(err)
		}
		if r.json.More() {
			return contract.NewRelation{}, errTrailing
		}
		return contract.NewRelation{}, io.EOF
	}
	var one line
	if err := r.json.Decode(&one); err != nil {
		if r.list {
			err = noEOF(err)
		}
		return contract.NewRelation{}, err //nolint:wrapcheck // Read says where
	}
	r.read++
	return one.NewRelation, nil
}

// begin reads what opens a list, if the text is one.
func (r *Reader) begin() error {
	for {
		c, _, err := r.text.ReadRune()
		switch {
		case err != nil:
			return err //nolint:wrapcheck // Read says where
		case unicode.IsSpace(c), c == '\ufeff': // a byte order mark, as some editors write it
			continue
		}
		if err := r.text.UnreadRune(); err != nil {
			return err //nolint:wrapcheck // Read says where
		}
		if r.list = c == '['; r.list {
			_, err = r.json.Token()
		}
		return err //nolint:wrapcheck // Read says where
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ReadAll reads the relations of one request. It stops after more than filelimits.Relations, which Add
// refuses.
func ReadAll(text io.Reader) ([]contract.NewRelation, error) {
	r := NewReader(text)
	list := []contract.NewRelation{}
	for int64(len(list)) <= filelimits.Relations.Most {
		one, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// importBatch is how many relations Import adds in one transaction.
const importBatch = 5000

// Import adds the relations of a text in batches. Batches before one that is refused stay: to import the text again is
// harmless.
func (s *Service) Import(
	ctx context.Context, p access.Principal, project string, from *Reader,
) (sum contract.AddedRelations, err error) {
	for begin := 0; ; begin = from.read {
		var batch []contract.NewRelation
		for len(batch) < importBatch && err == nil {
			var one contract.NewRelation
			if one, err = from.Read(); err == nil {
				batch = append(batch, one)
			}
		}
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return sum, err
		}
		if len(batch) == 0 && begin > 0 {
			return sum, nil
		}
		added, err := s.add(ctx, p, project, begin, batch)
		if err != nil {
			return sum, err
		}
		sum.Added, sum.Existing = sum.Added+added.Added, sum.Existing+added.Existing
		if ended {
			return sum, nil
		}
	}
}

// add adds relations, the first of which is number begin of those that were sent.
func (s *Service) add(
	ctx context.Context, p access.Principal, project string, begin int, in []contract.NewRelation,
) (out contract.AddedRelations, err error) {
	err = s.change(ctx, p, project, func(tx *models.Tx, row models.Project, names tenants) (string, error) {
		now := models.Now()
		rows, wrong := names.rows(row.ID, begin, in, now)
		if err := fault.InvalidFields(wrong); err != nil {
			return "", err
		}
		if out.Added, err = tx.AddRelations(rows, now); err != nil {
			return "", err
		}
		out.Existing = int64(len(in)) - out.Added
		return fmt.Sprintf("%d added", out.Added), access.CheckRelations(tx, row.TeamID)
	})
	return out, err
}
