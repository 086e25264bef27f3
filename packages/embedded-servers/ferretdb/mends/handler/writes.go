//go:build mended

package handler

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/FerretDB/wire"

	"github.com/FerretDB/FerretDB/internal/clientconn/conninfo"
	"github.com/FerretDB/FerretDB/internal/handler/common"
	"github.com/FerretDB/FerretDB/internal/types"
	"github.com/FerretDB/FerretDB/internal/util/logging"
	"github.com/FerretDB/FerretDB/internal/util/must"
)

// serializeWrites has the writes to a collection follow one another, so that nothing changes between what an update
// reads and what it writes; and has expired documents deleted, every minute as in MongoDB, or at the interval set by
// the command {setParameter: 1, ttlMonitorSleepSecs: seconds}.
func (h *Handler) serializeWrites() {
	var locks sync.Map
	lock := func(db, collection string) *sync.Mutex {
		l, _ := locks.LoadOrStore(db+"."+collection, new(sync.Mutex))
		return l.(*sync.Mutex)
	}
	for _, name := range []string{"insert", "update", "delete", "findAndModify", "findandmodify"} {
		c := h.commands[name]
		run := c.Handler
		c.Handler = func(ctx context.Context, msg *wire.OpMsg) (*wire.OpMsg, error) {
			document, err := opMsgDocument(msg)
			if err != nil {
				return nil, err
			}
			db, _ := document.Get("$db")
			collection, _ := document.Get(document.Command())
			l := lock(fmt.Sprint(db), fmt.Sprint(collection))
			l.Lock()
			defer l.Unlock()
			return run(ctx, msg)
		}
	}

	sweep := time.NewTicker(time.Minute)
	h.commands["setParameter"] = &command{Handler: func(ctx context.Context, msg *wire.OpMsg) (*wire.OpMsg, error) {
		document, err := opMsgDocument(msg)
		if err != nil {
			return nil, err
		}
		seconds, err := common.GetRequiredParam[int32](document, "ttlMonitorSleepSecs")
		if err != nil {
			return nil, err
		}
		sweep.Reset(time.Duration(max(1, seconds)) * time.Second)
		return documentOpMsg(must.NotFail(types.NewDocument("ok", float64(1))))
	}}
	h.wg.Add(1)
	go func() {
		defer h.wg.Done()
		for {
			select {
			case <-sweep.C:
				if err := h.deleteExpired(lock); err != nil {
					h.L.Error("Expired documents could not be deleted", logging.Error(err))
				}
			case <-h.cappedCleanupStop:
				return
			}
		}
	}()
}

// deleteExpired deletes from every collection what its TTL indexes say has expired.
func (h *Handler) deleteExpired(lock func(db, collection string) *sync.Mutex) error {
	info := conninfo.New()
	info.SetBypassBackendAuth()
	ctx := conninfo.Ctx(context.Background(), info)
	databases, err := h.b.ListDatabases(ctx, nil)
	if err != nil {
		return err
	}
	for _, database := range databases.Databases {
		db := must.NotFail(h.b.Database(database.Name))
		collections, err := db.ListCollections(ctx, nil)
		if err != nil {
			return err
		}
		for _, collection := range collections.Collections {
			c := must.NotFail(db.Collection(collection.Name))
			indexes, err := c.ListIndexes(ctx, nil)
			if err != nil {
				continue // the collection has just been dropped
			}
			for _, index := range indexes.Indexes {
				if index.ExpireAfterSeconds == nil || len(index.Key) != 1 {
					continue
				}
				limit := time.Now().Add(-time.Duration(*index.ExpireAfterSeconds) * time.Second)
				expired := must.NotFail(types.NewDocument("$lte", limit))
				l := lock(database.Name, collection.Name)
				l.Lock()
				_, err := h.execDelete(ctx, c, &common.Delete{
					Filter: must.NotFail(types.NewDocument(index.Key[0].Field, expired)),
				})
				l.Unlock()
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
