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

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"switchyard/e2e/promql/recorded"
)

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
	var given recorded.Scenario
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	groups, errs := rulefmt.ParseFile(os.Args[1])
	if len(errs) > 0 {
		return errs[0]
	}
	database, err := recorded.Load(given)
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
func evaluate(engine *promql.Engine, database storage.Queryable, rule rulefmt.RuleNode, given recorded.Scenario) ([]firing, error) {
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
