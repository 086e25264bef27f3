// Package codes has the code of a span that failed.
package codes

const Error = 1
