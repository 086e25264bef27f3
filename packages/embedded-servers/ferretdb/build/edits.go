package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// An edit replaces a text that occurs a given number of times in a file.
type edit struct {
	file     string
	from, to string
	times    int
}

const (
	metadata    = "internal/backends/sqlite/metadata/"
	collection  = "internal/backends/sqlite/collection.go"
	contract    = "internal/backends/collection.go"
	handler     = "internal/handler/"
	update      = "internal/handler/common/update.go"
	arrays      = "internal/handler/common/update_array_operators.go"
	indexFields = "Unique: index.Unique,"
	conn        = "internal/clientconn/conn.go"
	listener    = "internal/clientconn/listener.go"
	proxy       = "internal/handler/proxy/proxy.go"
	noTLS       = "lazyerrors.New(\"built without TLS\")"
)

var edits = []edit{
	// An error of one document is all that is used of MongoDB's driver.
	{handler + "msg_insert.go", "	\"go.mongodb.org/mongo-driver/mongo\"\n", "", 1},
	{handler + "msg_insert.go", "*mongo.WriteError", "*WriteError", 3},
	{handler + "msg_insert.go", "&mongo.WriteError", "&WriteError", 2},
	{handler + "msg_insert.go", "// WriteErrorDocument", `// WriteError is why one document of a command was refused.
type WriteError struct {
	Index   int
	Code    int
	Message string
}

// WriteErrorDocument`, 1},
	{handler + "msg_delete.go", "	\"go.mongodb.org/mongo-driver/mongo\"\n", "", 1},
	{handler + "msg_delete.go", "&mongo.WriteError", "&WriteError", 1},

	// Clients are on this machine: TLS, a fourteenth of the build, is not used. Nor are traces that a comment of a command continues.
	{listener, "	\"crypto/tls\"\n", "", 1},
	{listener, "	\"github.com/FerretDB/FerretDB/internal/util/tlsutil\"\n", "", 1},
	{listener, `		var config *tls.Config

		if config, err = tlsutil.Config(l.TLSCertFile, l.TLSKeyFile, l.TLSCAFile); err != nil {
			// this error is user visible, do not use lazyerror as it makes less readable
			return nil, err
		}

		if l.tlsListener, err = tls.Listen("tcp", l.TLS, config); err != nil {
			return nil, lazyerrors.Error(err)
		}

		close(l.tlsListenerReady)
		ll.InfoContext(ctx, fmt.Sprintf("Listening on TLS %s...", l.TLSAddr()))
`, "		return nil, " + noTLS + "\n", 1},
	{proxy, "	\"crypto/tls\"\n", "", 1},
	{proxy, "	\"github.com/FerretDB/FerretDB/internal/util/tlsutil\"\n", "", 1},
	{proxy, `	config, err := tlsutil.Config(certFile, keyFile, caFile)
	if err != nil {
		return nil, err
	}

	conn, err := tls.Dial("tcp", addr, config)
	if err != nil {
		return nil, lazyerrors.Error(err)
	}

	if err = conn.Handshake(); err != nil {
		return nil, lazyerrors.Error(err)
	}

	return conn, nil
`, "	return nil, " + noTLS + "\n", 1},
	{conn, "	\"github.com/FerretDB/FerretDB/internal/util/observability\"\n", "", 1},
	{conn, "	\"github.com/FerretDB/FerretDB/internal/handler/common\"\n", "", 1},
	{conn, "	\"github.com/FerretDB/FerretDB/internal/types\"\n", "", 1},
	{conn, "		var document *types.Document\n", "", 1},
	{conn, "document, err = bson", "_, err = bson", 1},
	{conn, `		if err == nil {
			comment, _ := common.GetOptionalParam(document, "comment", "")

			spanCtx, e := observability.SpanContextFromComment(comment)
			if e == nil {
				connCtx = trace.ContextWithRemoteSpanContext(connCtx, spanCtx)
			} else {
				c.l.DebugContext(connCtx, "Failed to extract span context from comment", logging.Error(e))
			}
		}

`, "", 1},

	// Indexes and look-ups name a field by the same expression, whose values compare as in BSON: texts, and numbers for
	// all that is ordered like one. FerretDB compares JSON texts, in which 10 is less than 9.
	{metadata + "metadata.go", `DefaultColumn + "->'$._id'"`, `DefaultColumn + "->>'_id'"`, 1},
	{metadata + "registry.go", `fmt.Sprintf("%s->%s", DefaultColumn, strings.Join(fields, "->"))`, `Expression(key.Field)`, 1},
	{metadata + "registry.go", `			fields := strings.Split(key.Field, ".")
			for j, f := range fields {
				fields[j] = fmt.Sprintf("%q", f)
			}
`, "", 1},
	{metadata + "metadata.go", "// Collection represents collection metadata.", `// Expression is the value of a field, whose name may be a path, for SQLite.
func Expression(field string) string {
	names := strings.Split(strings.ReplaceAll(field, "'", "''"), ".")
	last := len(names) - 1
	path := DefaultColumn
	for _, name := range names[:last] {
		path += "->'" + name + "'"
	}
	return path + "->>'" + names[last] + "'"
}

// Collection represents collection metadata.`, 1},
	{metadata + "metadata.go", `import "github.com`, "import \"strings\"\nimport \"github.com", 1},
	{collection, `string(must.NotFail(sjson.MarshalSingleValue(id)))`, `sqlID(id)`, 2},

	// However many documents are deleted, the statement has one variable: SQLite takes no more than 32,766.
	{collection, "		column = metadata.IDColumn\n", `		column = metadata.IDColumn
		placeholders = []string{"SELECT value FROM json_each(?)"}
		args = []any{string(must.NotFail(json.Marshal(args)))}
`, 1},
	{collection, `import (`, "import (\n	\"encoding/json\"", 1},

	// Filters and orders go to SQLite, in place of a look-up by _id alone.
	{collection, "	q += whereClause\n	q += prepareOrderByClause(params.Sort)\n", `	push := newPushdown(ctx, db, meta, params.Filter)
	whereClause, args = push.where(), push.args
	orderByClause := push.orderBy(params.Order)
	sorted := orderByClause != ""
	if !sorted {
		orderByClause = prepareOrderByClause(params.Sort)
	}
	q += whereClause + orderByClause
`, 1},
	{collection, "rows, params.OnlyRecordIDs),\n", "rows, params.OnlyRecordIDs), Sorted: sorted,\n", 1},
	{collection, "	orderByClause := prepareOrderByClause(params.Sort)\n", `	push := newPushdown(ctx, db, meta, params.Filter)
	whereClause, args = push.where(), push.args
	filterPushdown = whereClause != ""
	orderByClause := push.orderBy(params.Order)
	if orderByClause == "" {
		orderByClause = prepareOrderByClause(params.Sort)
	}
`, 1},
	{contract, "	Sort   *types.Document\n	Limit  int64\n", "	Sort   *types.Document\n	Order  *types.Document // by fields; may be ignored\n	Limit  int64\n", 2},
	{contract, "	Iter types.DocumentsIterator\n", "	Iter   types.DocumentsIterator\n	Sorted bool // whether Order was not ignored\n", 1},
	{handler + "msg_find.go", "	// Limit pushdown is not applied if:", "	qp.Order = params.Sort\n\n	// Limit pushdown is not applied if:", 1},
	{handler + "msg_explain.go", "	// Limit pushdown is not applied if:", "	qp.Order = params.Sort\n\n	// Limit pushdown is not applied if:", 1},
	{handler + "msg_find.go", "	iter, err := h.makeFindIter(queryRes.Iter", "	if queryRes.Sorted {\n		params.Sort = nil\n	}\n\n	iter, err := h.makeFindIter(queryRes.Iter", 1},

	// Writes follow one another, and an update that a unique index refuses is answered as in MongoDB.
	{handler + "handler.go", "	h.initCommands()\n", "	h.initCommands()\n	h.serializeWrites()\n", 1},
	{collection, "			r, err := tx.ExecContext(ctx, q, string(b), arg)\n", `			r, err := tx.ExecContext(ctx, q, string(b), arg)
			if isDuplicate(err) {
				return backends.NewError(backends.ErrorCodeInsertDuplicateID, err)
			}
`, 1},

	// An ordered insert ends with the first document that is refused, also beyond the 100 that are inserted at once.
	{handler + "msg_insert.go", "	for !done {\n", "	for !done && !(params.Ordered && len(writeErrors) > 0) {\n", 1},

	// Each update of a command gives back the connection that it read with. There are 100 of them, and a command that wanted more
	// than that waited for itself, and the whole database for it.
	{handler + "msg_update.go", "iter, &u)\n", "iter, &u)\n		closer.Close()\n", 1},

	// What the updates of a command change is written together: a transaction for each is four times the time, all of it the disk's.
	{handler + "msg_update.go", "	for _, u := range params.Updates {\n", "	gathered := gather()\n	for _, u := range params.Updates {\n", 1},
	{handler + "msg_update.go", "		var qp backends.QueryParams\n", `		gathered.Collection = c
		if err = gathered.beforeQuery(ctx, u.Filter); err != nil {
			return 0, 0, nil, lazyerrors.Error(err)
		}

		var qp backends.QueryParams
`, 1},
	{handler + "msg_update.go", "UpdateDocument(ctx, c, ", "UpdateDocument(ctx, gathered, ", 1},
	{handler + "msg_update.go", "	return matched, modified, &upserted, nil\n", `	if err = gathered.write(ctx); err != nil {
		return 0, 0, nil, lazyerrors.Error(err)
	}

	return matched, modified, &upserted, nil
`, 1},

	// What an upsert inserts has its empty arrays and nulls.
	{update, `	if setOnInsert {
		// $setOnInsert do not set null and empty array value.
		if _, ok := setValue.(types.NullType); ok {
			return false, nil
		}

		if arr, ok := setValue.(*types.Array); ok && arr.Len() == 0 {
			return false, nil
		}
	}

`, "", 1},

	// A path within a document is followed by $currentDate, too.
	{update, "doc.Set(field, now)", "must.NoError(doc.SetByPath(must.NotFail(types.NewPathFromString(field)), now))", 1},
	{update, "doc.Set(field, types.NextTimestamp(now))", "must.NoError(doc.SetByPath(must.NotFail(types.NewPathFromString(field)), types.NextTimestamp(now)))", 1},

	// $push and $addToSet of nothing make the array, and a document in $pull is a filter.
	{arrays, `	// If the path does not exist, create a new array and set it.
	if !doc.HasByPath(path) {
`, `	created := !doc.HasByPath(path)
	if created {
`, 2},
	{arrays, "	var changed bool\n\n	for i := range each.Len() {", "	changed := created\n\n	for i := range each.Len() {", 2},
	{arrays, "		if types.Compare(elem, pullVal) == types.Equal {\n", `		pulled := types.Compare(elem, pullVal) == types.Equal
		filter, isFilter := pullVal.(*types.Document)
		if document, ok := elem.(*types.Document); ok && isFilter {
			if pulled, err = FilterDocument(document, filter); err != nil {
				return false, lazyerrors.Error(err)
			}
		}

		if pulled {
`, 1},

	// Indexes keep when their documents expire.
	{metadata + "settings.go", "	Unique bool           `json:\"unique\"`\n", "	Unique bool           `json:\"unique\"`\n	ExpireAfterSeconds *int64 `json:\"expireAfterSeconds,omitempty\"`\n", 1},
	{metadata + "settings.go", indexFields, indexFields + "\n	ExpireAfterSeconds: index.ExpireAfterSeconds,", 1},
	{contract, "	Unique bool\n", "	Unique bool\n	ExpireAfterSeconds *int64\n", 1},
	{collection, indexFields, indexFields + "\n	ExpireAfterSeconds: index.ExpireAfterSeconds,", 2},
	{handler + "msg_createindexes.go", `"partialFilterExpression", "expireAfterSeconds", `, `"partialFilterExpression", `, 1},
	{handler + "msg_createindexes.go", "		case \"background\":\n", `		case "expireAfterSeconds":
			seconds, err := handlerparams.GetWholeNumberParam(must.NotFail(indexDoc.Get(opt)))
			if err != nil {
				return nil, handlererrors.NewCommandErrorMsgWithArgument(
					handlererrors.ErrTypeMismatch, "'expireAfterSeconds' must be a whole number", command,
				)
			}
			index.ExpireAfterSeconds = &seconds

		case "background":
`, 1},
	{handler + "msg_listindexes.go", "		firstBatch.Append(indexDoc)\n", `		if index.ExpireAfterSeconds != nil {
			indexDoc.Set("expireAfterSeconds", *index.ExpireAfterSeconds)
		}

		firstBatch.Append(indexDoc)
`, 1},
}

func (e edit) apply(source string) error {
	path := filepath.Join(source, filepath.FromSlash(e.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if found := strings.Count(string(text), e.from); found != e.times {
		return fmt.Errorf("%s has %q %d times, not %d times", e.file, e.from, found, e.times)
	}
	edited := strings.ReplaceAll(string(text), e.from, e.to)
	return os.WriteFile(path, []byte(edited), 0o600)
}
