// Command build builds ferretdb into a folder, with two faults of FerretDB v1.24.2 put right, because of which SQLite reads the whole
// collection to find a document by its _id: the index on _id is made over one SQLite expression and documents are looked up by another;
// and where a filter names more than the _id, it is not looked at until the documents are read. What SQLite finds is held against the
// whole filter afterwards in any case. Releases from 2.0 have no SQLite.
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

// A mend replaces a text that stands in a file so many times.
type mend struct {
	file     string
	from, to string
	times    int
}

var mends = []mend{
	{
		file:  "internal/backends/sqlite/metadata/metadata.go",
		from:  `DefaultColumn + "->'$._id'"`,
		to:    `DefaultColumn + "->'_id'"`, // as the index is written
		times: 1,
	},
	{
		file:  "internal/backends/sqlite/collection.go", // in queries, and in the explanation of queries
		from:  `if params.Filter.Len() == 1 {`,
		to:    `if params.Filter.Len() >= 1 {`,
		times: 2,
	},
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./build FOLDER")
	}
	if err := build(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// build mends a copy of the module, as the module cache must stay what it is, and has go.mod, in a copy too, point there.
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
	for _, m := range mends {
		if err := m.apply(source); err != nil {
			return err
		}
	}

	if err := copyFile("go.sum", filepath.Join(scratch, "go.sum"), ""); err != nil {
		return err
	}
	modfile := filepath.Join(scratch, "go.mod")
	if err := copyFile("go.mod", modfile, fmt.Sprintf("\nreplace %s => %q\n", module, source)); err != nil {
		return err
	}
	program := filepath.Join(folder, "ferretdb")
	cmd := exec.Command("go", "build", "-v", "-tags", "ferretdb_sqlite", "-modfile", modfile, "-o", program, ".")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

func (m mend) apply(source string) error {
	path := filepath.Join(source, filepath.FromSlash(m.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Count(string(text), m.from) != m.times {
		return fmt.Errorf("%s is not the one that is known", m.file)
	}
	mended := strings.ReplaceAll(string(text), m.from, m.to)
	return os.WriteFile(path, []byte(mended), 0o600)
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
