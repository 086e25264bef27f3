//go:build mended

package handler

import (
	"context"
	"encoding/hex"

	"github.com/FerretDB/FerretDB/internal/backends"
	"github.com/FerretDB/FerretDB/internal/types"
	"github.com/FerretDB/FerretDB/internal/util/must"
)

// gatheredAtMost is how many documents of a command wait to be written.
const gatheredAtMost = 500

// gatheredUpdates is a collection that writes what the updates of a command change in one transaction instead of one
// for each document. Whoever reads it says so first, by beforeQuery.
type gatheredUpdates struct {
	backends.Collection
	docs []*types.Document
	ids  map[string]bool
}

func gather() *gatheredUpdates {
	return &gatheredUpdates{ids: map[string]bool{}}
}

// UpdateAll takes documents, to write them later.
func (g *gatheredUpdates) UpdateAll(ctx context.Context, params *backends.UpdateAllParams) (*backends.UpdateAllResult, error) {
	for _, doc := range params.Docs {
		id, isText := textOf(must.NotFail(doc.Get("_id")))
		g.docs = append(g.docs, doc)
		g.ids[id] = true
		if !isText || len(g.docs) >= gatheredAtMost {
			if err := g.write(ctx); err != nil {
				return nil, err
			}
		}
	}
	return new(backends.UpdateAllResult), nil
}

// InsertAll inserts after what was changed before it.
func (g *gatheredUpdates) InsertAll(ctx context.Context, params *backends.InsertAllParams) (*backends.InsertAllResult, error) {
	if err := g.write(ctx); err != nil {
		return nil, err
	}
	return g.Collection.InsertAll(ctx, params)
}

// beforeQuery writes what a query by this filter might find, or no longer find: all, unless it asks for one document,
// by its _id, that was not changed.
func (g *gatheredUpdates) beforeQuery(ctx context.Context, filter *types.Document) error {
	if id, err := filter.Get("_id"); err == nil {
		if text, isText := textOf(id); isText && !g.ids[text] {
			return nil
		}
	}
	return g.write(ctx)
}

// write writes all documents that wait. If one of them is refused, those before it are written, as MongoDB does.
func (g *gatheredUpdates) write(ctx context.Context) error {
	docs := g.docs
	g.docs, g.ids = nil, map[string]bool{}
	if len(docs) == 0 {
		return nil
	}
	_, err := g.Collection.UpdateAll(ctx, &backends.UpdateAllParams{Docs: docs})
	if err == nil || len(docs) == 1 {
		return err
	}
	for _, doc := range docs {
		if _, err := g.Collection.UpdateAll(ctx, &backends.UpdateAllParams{Docs: []*types.Document{doc}}); err != nil {
			return err
		}
	}
	return nil
}

// textOf is an _id as a text, if it is one, or an ObjectId, which is stored as its digits.
func textOf(id any) (text string, isText bool) {
	switch id := id.(type) {
	case string:
		return id, true
	case types.ObjectID:
		return hex.EncodeToString(id[:]), true
	default:
		return "", false
	}
}
