module github.com/temporalio/cli/cliext

go 1.25.0
