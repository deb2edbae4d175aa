// SPDX-License-Identifier: Apache-2.0
/**
 * printData prints data as JSON or YAML. The same data always give the same bytes.
 * Usage: `printData(answers, "json", terminal.stdout)`.
 */
import type { Output } from "../terminal.ts";
import { toYaml } from "./to-yaml.ts";

export function printData(data: unknown, format: "json" | "yaml", output: Output): void {
  output.write(format === "json" ? `${JSON.stringify(data, null, 2)}\n` : toYaml(data));
}
