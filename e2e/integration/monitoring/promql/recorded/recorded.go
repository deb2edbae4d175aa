// SPDX-License-Identifier: Apache-2.0

// Package recorded is a database of Prometheus with given series.
package recorded

import (
	"fmt"
	"sort"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// Scenario is what Prometheus has scraped: the values of each series in the notation of `promtool test rules`, one for each interval.
type Scenario struct {
	IntervalMs int64             `json:"intervalMs"`
	UntilMs    int64             `json:"untilMs"`
	Series     map[string]string `json:"series"`
}

type sample struct {
	ms    int64
	value float64
}

func (s sample) T() int64                      { return s.ms }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// Load returns a database with the series of the scenario.
func Load(given Scenario) (storage.Queryable, error) {
	all := []storage.Series{}
	for description, values := range given.Series {
		own, sequence, err := parser.ParseSeriesDesc(description + " " + values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", description, err)
		}
		samples := []chunks.Sample{}
		for index, each := range sequence {
			if !each.Omitted {
				samples = append(samples, sample{int64(index) * given.IntervalMs, each.Value})
			}
		}
		all = append(all, storage.NewListSeries(own, samples))
	}
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			return &seriesSet{SeriesSet: storage.EmptySeriesSet(), all: matching(all, matchers), index: -1}
		},
	}}, nil
}

func matching(all []storage.Series, matchers []*labels.Matcher) []storage.Series {
	chosen := []storage.Series{}
	for _, series := range all {
		fits := true
		for _, matcher := range matchers {
			fits = fits && matcher.Matches(series.Labels().Get(matcher.Name))
		}
		if fits {
			chosen = append(chosen, series)
		}
	}
	sort.Slice(chosen, func(i, j int) bool { return labels.Compare(chosen[i].Labels(), chosen[j].Labels()) < 0 })
	return chosen
}

// seriesSet takes Err and Warnings, which are always nil, from the empty set.
type seriesSet struct {
	storage.SeriesSet
	all   []storage.Series
	index int
}

func (s *seriesSet) Next() bool         { s.index++; return s.index < len(s.all) }
func (s *seriesSet) At() storage.Series { return s.all[s.index] }
