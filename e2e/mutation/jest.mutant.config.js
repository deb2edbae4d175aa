// SPDX-License-Identifier: Apache-2.0
/** Jest's configuration for one mutant: the unit tests of the domain packages, with transform.cjs. */
import { join } from "node:path";
import base from "../../jest.config.js";

const root = join(import.meta.dirname, "../..");
const [[pattern, [, options]]] = Object.entries(base.transform);

export default {
  ...base,
  rootDir: root,
  roots: ["api", "policy", "plan", "render", "admission"].map((name) => join(root, "libs", name)),
  testMatch: ["**/src/**/*.test.ts"],
  transform: { [pattern]: [join(import.meta.dirname, "transform.cjs"), options] },
};
