// SPDX-License-Identifier: Apache-2.0

// Program yaml-reader reads YAML as kubectl does. Each line of stdin is a JSON string with a YAML text. The answer is a line with the JSON
// that the text means, or "null " and the error as a JSON string.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

const longestLine = 16 << 20

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		answer, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			message, _ := json.Marshal(err.Error())
			answer = append([]byte("null "), message...)
		}
		fmt.Fprintf(out, "%s\n", answer)
	}
}
