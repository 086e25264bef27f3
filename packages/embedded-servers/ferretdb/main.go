// Command ferretdb serves the MongoDB protocol from SQLite files in one folder.
//
// FerretDB's own command panics when it is built as a dependency (it expects version files that only
// its release process writes), so this is the smallest command over its embeddable package.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

const version = "v1.24.2" // the FerretDB release pinned in go.mod

func main() {
	listen := flag.String("listen", "127.0.0.1:27017", "TCP address to listen on")
	data := flag.String("data", "", "folder of the SQLite files; made if missing")
	synchronous := flag.String("synchronous", "full", "full: what was acknowledged outlives a power cut; normal: it can be lost in one; off: so can all data")
	showVersion := flag.Bool("version", false, "print the version and exit")
	flag.Parse()
	if *showVersion {
		fmt.Println("ferretdb", version)
		return
	}
	folder, err := filepath.Abs(*data)
	if err != nil || *data == "" {
		log.Fatal("-data must name a folder")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		log.Fatal(err)
	}
	switch *synchronous {
	case "full", "normal", "off":
	default:
		log.Fatal("-synchronous must be full, normal or off")
	}
	// FerretDB turns the write-ahead log on. https://www.sqlite.org/pragma.html#pragma_synchronous
	pragma := "_pragma=synchronous(" + *synchronous + ")"
	location := url.URL{Scheme: "file", OmitHost: true, Path: folder + "/", RawQuery: pragma}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	server, err := ferretdb.New(&ferretdb.Config{ // this package never creates a telemetry reporter
		Listener:  ferretdb.ListenerConfig{TCP: *listen},
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:   "sqlite",
		SQLiteURL: location.String(),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
