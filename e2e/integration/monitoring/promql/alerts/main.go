// SPDX-License-Identifier: Apache-2.0

// Command alerts evaluates the alerting rules of a file over time, with Prometheus' own PromQL engine, and prints which
// alerts fire. The argument is the rule file. Stdin is {"intervalMs", "untilMs", "series": {SERIES: VALUES}} in the notation
// of `promtool test rules`: a value for each interval, "_" for a scrape without a sample, "stale" for a series that ended.
// It prints [{"alert", "labels", "fromMs", "toMs"}]; toMs is absent for an alert that fires at the end.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

type scenario struct {
	IntervalMs int64             `json:"intervalMs"`
	UntilMs    int64             `json:"untilMs"`
	Series     map[string]string `json:"series"`
}

type firing struct {
	Alert  string            `json:"alert"`
	Labels map[string]string `json:"labels"`
	FromMs int64             `json:"fromMs"`
	ToMs   *int64            `json:"toMs,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var given scenario
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	groups, errs := rulefmt.ParseFile(os.Args[1])
	if len(errs) > 0 {
		return errs[0]
	}
	database, err := load(given)
	if err != nil {
		return err
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	fired := []firing{}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Alert.Value == "" {
				continue
			}
			own, err := evaluate(engine, database, rule, given)
			if err != nil {
				return fmt.Errorf("%s: %w", rule.Alert.Value, err)
			}
			fired = append(fired, own...)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(fired)
}

// evaluate follows a rule: an alert is active while its labels are in the result, and fires once it was active for `for`.
func evaluate(engine *promql.Engine, database storage.Queryable, rule rulefmt.RuleNode, given scenario) ([]firing, error) {
	holdMs := time.Duration(rule.For).Milliseconds()
	activeSince := map[string]int64{}
	fired := map[string]*firing{}
	done := []firing{}
	for ms := int64(0); ms <= given.UntilMs; ms += given.IntervalMs {
		query, err := engine.NewInstantQuery(context.Background(), database, nil, rule.Expr.Value, time.UnixMilli(ms))
		if err != nil {
			return nil, err
		}
		result := query.Exec(context.Background())
		vector, err := result.Vector()
		if err != nil {
			return nil, err
		}
		present := map[string]bool{}
		for _, sample := range vector {
			own := labels.NewBuilder(sample.Metric).Del(labels.MetricName).Labels()
			key := own.String()
			present[key] = true
			if _, ok := activeSince[key]; !ok {
				activeSince[key] = ms
			}
			if fired[key] == nil && ms-activeSince[key] >= holdMs {
				fired[key] = &firing{Alert: rule.Alert.Value, Labels: own.Map(), FromMs: ms}
			}
		}
		query.Close()
		for key := range activeSince {
			if present[key] {
				continue
			}
			delete(activeSince, key)
			if ended := fired[key]; ended != nil {
				at := ms
				ended.ToMs = &at
				done = append(done, *ended)
				delete(fired, key)
			}
		}
	}
	for _, still := range fired {
		done = append(done, *still)
	}
	sort.Slice(done, func(i, j int) bool { return done[i].FromMs < done[j].FromMs })
	return done, nil
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

func load(given scenario) (storage.Queryable, error) {
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
