// Command build builds ferretdb into a folder, with one constant of FerretDB put right.
//
// FerretDB v1.24.2 makes the index on _id over one SQLite expression and looks documents up by another, so that SQLite reads the
// whole collection for every one of them. Releases from 2.0 have no SQLite.
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

const (
	module = "github.com/FerretDB/FerretDB"
	file   = "internal/backends/sqlite/metadata/metadata.go"
	// Both name the field; only the second is how the index is written.
	searched = `DefaultColumn + "->'$._id'"`
	indexed  = `DefaultColumn + "->'_id'"`
)

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
	if err := mend(filepath.Join(source, filepath.FromSlash(file))); err != nil {
		return err
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

func mend(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Count(string(text), searched) != 1 {
		return fmt.Errorf("%s is not the one that is known", file)
	}
	mended := strings.Replace(string(text), searched, indexed, 1)
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
