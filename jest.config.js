// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";

/** The tests of `npm test`, except those of e2e/integration, which have a configuration of their own. */
export default {
  testMatch: ["**/src/**/*.test.ts", "**/integration/**/*.test.ts"],
  // Milliseconds for one test or hook, on a busy machine. A test that needs more says so beside its name.
  testTimeout: 60_000 * Math.max(1, Number(process.env.SWITCHYARD_PROPERTY_RUNS || 1)),
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } },
    ],
  },
  // Says how often random properties run.
  moduleNameMapper: { "^fast-check$": join(import.meta.dirname, "tools/nx/fast-check.cjs") },
};
