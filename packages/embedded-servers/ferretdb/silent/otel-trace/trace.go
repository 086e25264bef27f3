// Package trace is what FerretDB uses of a span, of which nothing is kept.
package trace

type (
	// Span of a trace.
	Span interface {
		End()
		SetName(string)
		SetStatus(int, string)
		SetAttributes(...Attribute)
	}
	// Attribute of a span.
	Attribute struct{}
	// None is a span of which nothing is kept. It has a size, so that each has an address of its own.
	None struct{ _ byte }
)

func (*None) End()                       {}
func (*None) SetName(string)             {}
func (*None) SetStatus(int, string)      {}
func (*None) SetAttributes(...Attribute) {}
