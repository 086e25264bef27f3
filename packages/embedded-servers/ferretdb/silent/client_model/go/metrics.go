// Package io_prometheus_client is what FerretDB reads of a metric, of which there is none.
package io_prometheus_client

type (
	// Metric has no labels and no value.
	Metric struct{}
	// LabelPair is never made.
	LabelPair struct{}
	// Counter is at 0.
	Counter struct{}
)

func (*Metric) GetLabel() []*LabelPair { return nil }
func (*Metric) GetCounter() *Counter   { return nil }
func (*LabelPair) GetName() string     { return "" }
func (*LabelPair) GetValue() string    { return "" }
func (*Counter) GetValue() float64     { return 0 }
