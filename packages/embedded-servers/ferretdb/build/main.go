// Command build builds ferretdb into a folder, from a copy of FerretDB v1.24.2 that is mended so that it serves ordinary MongoDB
// idioms: see the README. What is new is in ../mends; the edits below call it.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/FerretDB/FerretDB"

// sources are the files of ../mends, and where they go in the copy.
var sources = map[string]string{
	"mends/sqlite/pushdown.go": "internal/backends/sqlite/pushdown.go",
	"mends/handler/writes.go":  "internal/handler/writes.go",
	"mends/handler/updates.go": "internal/handler/updates.go",
}

// removed are files of the copy that nothing of ours runs, and that are all there is to bring in what they import: other backends with the
// drivers of their databases, and the exporter of traces with gRPC.
var removed = []string{
	"internal/handler/registry/mysql.go",
	"internal/handler/registry/postgresql.go",
	"internal/util/logging/pgx.go",
	"internal/util/observability/observability.go",
	"internal/util/observability/propagation.go",
	"internal/util/tlsutil/tlsutil.go",
}

// silent are modules that FerretDB measures and traces itself with, and the folders of ../silent that stand in for them: nobody reads what
// they would tell, and with what they import, HTTP among it, they are a fifth of the build.
var silent = map[string]string{
	"github.com/prometheus/client_golang": "client_golang",
	"github.com/prometheus/client_model":  "client_model",
	"go.opentelemetry.io/otel":            "otel",
	"go.opentelemetry.io/otel/trace":      "otel-trace",
}

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
	{handler + "msg_update.go", "	for _, u := range params.Updates {\n		c, err := db.Collection(params.Collection)\n", `	var gathered *gatheredUpdates
	for _, u := range params.Updates {
		c, err := db.Collection(params.Collection)
`, 1},
	{handler + "msg_update.go", "		var qp backends.QueryParams\n", `		if gathered == nil {
			gathered = gather(c)
		}
		if err = gathered.beforeQuery(ctx, u.Filter); err != nil {
			return 0, 0, nil, lazyerrors.Error(err)
		}

		var qp backends.QueryParams
`, 1},
	{handler + "msg_update.go", "UpdateDocument(ctx, c, ", "UpdateDocument(ctx, gathered, ", 1},
	{handler + "msg_update.go", "	return matched, modified, &upserted, nil\n", `	if gathered != nil {
		if err = gathered.write(ctx); err != nil {
			return 0, 0, nil, lazyerrors.Error(err)
		}
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

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./build FOLDER")
	}
	if err := build(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// build mends a copy of the module, as the module cache must stay as it is, and builds with a copy of go.mod that points there.
func build(folder string) error {
	scratch, err := os.MkdirTemp("", "ferretdb-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	cached, err := output("go", "mod", "download", "-json", module)
	if err != nil {
		return err
	}
	var download struct{ Dir string }
	if err := json.Unmarshal(cached, &download); err != nil {
		return err
	}
	source := filepath.Join(scratch, "source")
	if err := os.CopyFS(source, os.DirFS(download.Dir)); err != nil {
		return err
	}
	for _, name := range removed {
		if err := os.Remove(filepath.Join(source, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	for _, e := range edits {
		if err := e.apply(source); err != nil {
			return err
		}
	}
	for from, to := range sources {
		if err := copyFile(from, filepath.Join(source, filepath.FromSlash(to)), ""); err != nil {
			return err
		}
	}

	if err := copyFile("go.sum", filepath.Join(scratch, "go.sum"), ""); err != nil {
		return err
	}
	modfile := filepath.Join(scratch, "go.mod")
	replaced := fmt.Sprintf("\nreplace %s => %q\n", module, source)
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	for name, folder := range silent {
		replaced += fmt.Sprintf("replace %s => %q\n", name, filepath.Join(here, "silent", folder))
	}
	if err := copyFile("go.mod", modfile, replaced); err != nil {
		return err
	}
	program := filepath.Join(folder, "ferretdb")
	// Without -trimpath, Go would compile everything again for each copy.
	options := []string{"-trimpath", "-ldflags=-s -w", "-tags", "ferretdb_sqlite,mended", "-modfile", modfile}
	if err := announce(options); err != nil {
		return err
	}
	cmd := exec.Command("go", append(append([]string{"build", "-v", "-o", program}, options...), ".")...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// announce says which packages will be compiled at most, and how much source each has, by which the time that is left can be told.
func announce(options []string) error {
	format := `{{.ImportPath}}{{"\t"}}{{.Dir}}{{"\t"}}{{join .GoFiles "\t"}}`
	args := append(append([]string{"list", "-deps", "-f", format}, options...), ".")
	listed, err := output("go", args...)
	if err != nil {
		return err
	}
	packages := strings.Split(strings.TrimSpace(string(listed)), "\n")
	fmt.Println("packages:", len(packages))
	for _, line := range packages {
		fields := strings.Split(line, "\t")
		var size int64
		for _, name := range fields[2:] {
			if info, err := os.Stat(filepath.Join(fields[1], name)); err == nil {
				size += info.Size()
			}
		}
		fmt.Println("source:", fields[0], size)
	}
	return nil
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

func copyFile(from, to, addition string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(text, addition...), 0o600)
}

// output returns what a command writes to standard output; its messages go where this program's go.
func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
