// Command build builds Temporal's command line into a folder, and says first how many packages that takes: see the README.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	program = "github.com/temporalio/cli/cmd/temporal"
	// The CLI that is pinned in go.mod; its own release process writes it into the program in the same way.
	version = "-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=1.9.1"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./build FOLDER")
	}
	list := exec.Command("go", "list", "-deps", program)
	list.Stderr = os.Stderr
	packages, err := list.Output()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("packages:", bytes.Count(packages, []byte("\n")))
	build := exec.Command("go", "build", "-v", "-trimpath", "-ldflags", version, "-o", filepath.Join(os.Args[1], "temporal"), program)
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		log.Fatal(err)
	}
}
