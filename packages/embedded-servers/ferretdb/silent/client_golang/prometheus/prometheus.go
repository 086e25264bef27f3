// Package prometheus is what FerretDB uses of Prometheus' package, and counts nothing: nobody scrapes the server.
package prometheus

import dto "github.com/prometheus/client_model/go"

type (
	// Collector is implemented by what would be scraped.
	Collector interface {
		Describe(chan<- *Desc)
		Collect(chan<- Metric)
	}
	// Metric is never made.
	Metric interface{ Write(*dto.Metric) error }
	// Desc describes nothing.
	Desc struct{}
	// Labels of a metric.
	Labels map[string]string
	// ValueType of a metric.
	ValueType int
	// CounterOpts name a counter.
	CounterOpts struct{ Namespace, Subsystem, Name, Help string }
	// HistogramOpts name a histogram.
	HistogramOpts struct {
		Namespace, Subsystem, Name, Help string
		Buckets                          []float64
	}
	// CounterVec counts nothing.
	CounterVec struct{ vec }
	// HistogramVec counts nothing.
	HistogramVec struct{ vec }

	vec  struct{}
	none struct{}
)

// Types of metrics.
const (
	CounterValue ValueType = iota
	GaugeValue
)

func (vec) Describe(chan<- *Desc)          {}
func (vec) Collect(chan<- Metric)          {}
func (vec) WithLabelValues(...string) none { return none{} }
func (none) Inc()                          {}
func (none) Add(float64)                   {}
func (none) Observe(float64)               {}
func (none) Write(*dto.Metric) error       { return nil }

// NewCounterVec returns what counts nothing.
func NewCounterVec(CounterOpts, []string) *CounterVec { return &CounterVec{} }

// NewHistogramVec returns what counts nothing.
func NewHistogramVec(HistogramOpts, []string) *HistogramVec { return &HistogramVec{} }

// NewDesc describes nothing.
func NewDesc(string, string, []string, Labels) *Desc { return &Desc{} }

// MustNewConstMetric returns what says nothing.
func MustNewConstMetric(*Desc, ValueType, float64, ...string) Metric { return none{} }

// BuildFQName is a name that nobody reads.
func BuildFQName(namespace, subsystem, name string) string { return name }

// DescribeByCollect describes nothing.
func DescribeByCollect(Collector, chan<- *Desc) {}
