//go:build mended

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite"
	sqlite3lib "modernc.org/sqlite/lib"

	"github.com/FerretDB/FerretDB/internal/backends/sqlite/metadata"
	"github.com/FerretDB/FerretDB/internal/handler/sjson"
	"github.com/FerretDB/FerretDB/internal/types"
	"github.com/FerretDB/FerretDB/internal/util/fsql"
	"github.com/FerretDB/FerretDB/internal/util/must"
)

// pushdown turns what it can of a filter and of a sort order into SQL. The rows that SQLite finds may be too many, as
// the handler applies the whole filter to them again, but they are never too few.
type pushdown struct {
	ctx   context.Context
	db    *fsql.DB
	meta  *metadata.Collection
	terms []string
	args  []any
	// hasRows says that a term names rows.
	hasRows bool
}

func newPushdown(ctx context.Context, db *fsql.DB, meta *metadata.Collection, filter *types.Document) *pushdown {
	p := &pushdown{ctx: ctx, db: db, meta: meta}
	p.filter(filter)
	return p
}

// where returns the WHERE clause, or nothing if no part of the filter could be pushed down.
func (p *pushdown) where() string {
	if len(p.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(p.terms, " AND ")
}

// orderBy returns the ORDER BY clause, or nothing if the handler has to sort. Only indexed fields are sorted here; such
// a field must hold values of one type, as SQLite knows fewer types than BSON.
func (p *pushdown) orderBy(sort *types.Document) string {
	var columns []string
	for i, field := range sort.Keys() {
		if !p.isIndexed(field) || p.mayHoldArrays(field) {
			return ""
		}
		column := metadata.Expression(field)
		if sort.Values()[i] == int64(-1) {
			column += " DESC"
		}
		columns = append(columns, column)
	}
	if len(columns) == 0 {
		return ""
	}
	return " ORDER BY " + strings.Join(columns, ", ")
}

func (p *pushdown) filter(filter *types.Document) {
	for i, field := range filter.Keys() {
		switch value := filter.Values()[i].(type) {
		case *types.Document:
			for j, operator := range value.Keys() {
				p.compare(field, operator, value.Values()[j])
			}
		case *types.Array:
			for j := 0; field == "$and" && j < value.Len(); j++ {
				if part, ok := must.NotFail(value.Get(j)).(*types.Document); ok {
					p.filter(part)
				}
			}
		default:
			p.compare(field, "$eq", value)
		}
	}
}

var (
	simpleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plainText  = regexp.MustCompile(`^[A-Za-z0-9_:./+=-]+$`) // as JSON it is itself
	comparison = map[string]string{"$eq": "BETWEEN ? AND ?", "$gt": ">= ?", "$gte": ">= ?", "$lt": "<= ?", "$lte": "<= ?"}
)

// compare adds a term for one operator on one field, if it is one of those that SQLite can evaluate.
func (p *pushdown) compare(field, operator string, operand any) {
	if !simpleName.MatchString(field) {
		return
	}
	var term string
	var args []any
	if list, ok := operand.(*types.Array); ok && operator == "$in" && list.Len() <= 1000 {
		for i := 0; i < list.Len(); i++ {
			low, high, ok := scalar(must.NotFail(list.Get(i)))
			if !ok || low != high {
				return
			}
			args = append(args, low)
		}
		term = "IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ") + ")"
	} else {
		low, high, ok := scalar(operand)
		if term = comparison[operator]; !ok || term == "" {
			return
		}
		switch {
		case operator == "$eq" && low == high:
			term, args = "= ?", []any{low}
		case operator == "$eq":
			args = []any{low, high}
		case strings.HasPrefix(operator, "$gt"):
			args = []any{low}
		default:
			args = []any{high}
		}
	}
	term = metadata.Expression(field) + " " + term
	if p.mayHoldArrays(field) { // they match by element, which is for the handler to see
		term, args = p.orArrays(field, operator, term, args)
	}
	p.terms, p.args = append(p.terms, term), append(p.args, args...)
}

// orArrays lets arrays through, too: all of them, unless what is asked for are elements that the text of an array has as
// they are. Then an index finds each part of the OR by itself, which SQLite does not try beside an order; for one field,
// as the other terms stand in each part.
func (p *pushdown) orArrays(field, operator, term string, args []any) (string, []any) {
	var parts []string
	var texts []any
	for _, value := range args {
		if text, ok := value.(string); ok && plainText.MatchString(text) && (operator == "$eq" || operator == "$in") {
			parts, texts = append(parts, "instr("+metadata.Expression(field)+", ?)"), append(texts, `"`+text+`"`)
		}
	}
	if len(parts) < max(len(args), 1) {
		return "(" + term + " OR " + isArray(field) + ")", args
	}
	array := isArray(field) + " AND (" + strings.Join(parts, " OR ") + ")"
	if p.hasRows || !p.isIndexed(field) {
		return "(" + term + " OR " + array + ")", append(args, texts...)
	}
	p.hasRows = true
	found := func(term string) string {
		where := strings.Join(append(slices.Clone(p.terms), term), " AND ")
		return fmt.Sprintf("SELECT rowid FROM %q WHERE %s", p.meta.TableName, where)
	}
	return "rowid IN (" + found(term) + " UNION ALL " + found(array) + ")", slices.Concat(p.args, args, p.args, texts)
}

// mayHoldArrays returns whether the field is an array in any document that the terms so far let through. Without an
// index the question costs as much as the query itself, so the answer is yes.
func (p *pushdown) mayHoldArrays(field string) bool {
	if field == "_id" {
		return false
	}
	if !p.isIndexed(field) {
		return true
	}
	terms := append(slices.Clone(p.terms), isArray(field))
	q := fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM %q WHERE %s)", p.meta.TableName, strings.Join(terms, " AND "))
	var found bool
	err := p.db.QueryRowContext(p.ctx, q, p.args...).Scan(&found)
	return err != nil || found
}

// isArray is true of arrays, which are texts for SQLite, and of strings that begin like one.
func isArray(field string) string {
	return fmt.Sprintf(`(%[1]s >= '[' AND %[1]s < '\')`, metadata.Expression(field))
}

func (p *pushdown) isIndexed(field string) bool {
	return simpleName.MatchString(field) && slices.ContainsFunc(p.meta.Settings.Indexes, func(index metadata.IndexInfo) bool {
		return slices.ContainsFunc(index.Key, func(key metadata.IndexKeyPair) bool { return key.Field == field })
	})
}

// scalar returns the least and the greatest SQL value that stand for a BSON value: fractions may differ in the last digit.
func scalar(value any) (low, high any, ok bool) {
	switch v := value.(type) {
	case string:
		return v, v, !strings.ContainsRune(v, 0) // SQLite ends a text there
	case types.ObjectID:
		id := strings.Trim(string(must.NotFail(sjson.MarshalSingleValue(v))), `"`)
		return id, id, true
	case bool:
		if v {
			return int64(1), int64(1), true
		}
		return int64(0), int64(0), true
	case time.Time:
		return v.UnixMilli(), v.UnixMilli(), true
	case int32:
		return int64(v), int64(v), true
	case int64:
		return v, v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), int64(v), true
		}
		margin := math.Abs(v) * 1e-15
		return v - margin, v + margin, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return nil, nil, false
}

// sqlID is an _id as metadata.IDColumn gives it.
func sqlID(id any) any {
	if low, high, ok := scalar(id); ok && low == high {
		return low
	}
	return string(must.NotFail(sjson.MarshalSingleValue(id)))
}

func isDuplicate(err error) bool {
	var e *sqlite3.Error
	return errors.As(err, &e) && e.Code() == sqlite3lib.SQLITE_CONSTRAINT_UNIQUE
}
