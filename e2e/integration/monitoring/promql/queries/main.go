// SPDX-License-Identifier: Apache-2.0

// Command queries evaluates expressions over recorded series with Prometheus' own engine. Stdin is a scenario of package recorded
// with {"queries": [...]}. It prints for each query how many values it has at all intervals together.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/prometheus/promql"
	"switchyard/e2e/promql/recorded"
)

type input struct {
	recorded.Scenario
	Queries []string `json:"queries"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	database, err := recorded.Load(given.Scenario)
	if err != nil {
		return err
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	counts := []int{}
	for _, text := range given.Queries {
		interval := time.Duration(given.IntervalMs) * time.Millisecond
		query, err := engine.NewRangeQuery(context.Background(), database, nil, text, time.UnixMilli(0), time.UnixMilli(given.UntilMs), interval)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		matrix, err := query.Exec(context.Background()).Matrix()
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		count := 0
		for _, series := range matrix {
			for _, point := range series.Floats {
				if point.F == point.F { // a quantile without observations is NaN
					count++
				}
			}
		}
		counts = append(counts, count)
		query.Close()
	}
	return json.NewEncoder(os.Stdout).Encode(counts)
}
