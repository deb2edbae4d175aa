// SPDX-License-Identifier: Apache-2.0

// Command promql checks rule files and expressions with Prometheus' own parsers. The arguments are the paths of rule
// files, stdin is a JSON array of expressions. It prints {"problems": [...], "metrics": [...]}.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

type verdict struct {
	Problems []string `json:"problems"`
	Metrics  []string `json:"metrics"`
}

func main() {
	var expressions []string
	if err := json.NewDecoder(os.Stdin).Decode(&expressions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	problems := []string{}
	for _, file := range os.Args[1:] {
		groups, errs := rulefmt.ParseFile(file)
		for _, err := range errs {
			problems = append(problems, err.Error())
		}
		if groups == nil {
			continue
		}
		for _, group := range groups.Groups {
			for _, rule := range group.Rules {
				expressions = append(expressions, rule.Expr.Value)
			}
		}
	}
	metrics := map[string]bool{}
	for _, text := range expressions {
		expression, err := parser.ParseExpr(text)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", text, err))
			continue
		}
		parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
			if selector, ok := node.(*parser.VectorSelector); ok {
				for _, matcher := range selector.LabelMatchers {
					if matcher.Name == labels.MetricName {
						metrics[matcher.Value] = true
					}
				}
			}
			return nil
		})
	}
	names := []string{}
	for name := range metrics {
		names = append(names, name)
	}
	sort.Strings(names)
	if err := json.NewEncoder(os.Stdout).Encode(verdict{Problems: problems, Metrics: names}); err != nil {
		os.Exit(1)
	}
}
