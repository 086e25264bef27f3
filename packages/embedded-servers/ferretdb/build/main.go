// Command build builds ferretdb into a folder, from a copy of FerretDB v1.24.2 that is mended so that it serves ordinary MongoDB
// idioms: see the README. What is new is in ../mends; the edits in edits.go call it.
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
