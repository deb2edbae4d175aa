// SPDX-License-Identifier: Apache-2.0
/**
 * fast-check, as tests get it from Jest: the number of runs of each random property is multiplied by
 * SWITCHYARD_PROPERTY_RUNS. The default is 0.25, so that a change is checked in minutes; the nightly workflow sets 4.
 * A property without a number of its own has fast-check's default, 100.
 */
const { dirname, join } = require("node:path");

// By its path, because Jest replaces the name by this file.
const fastCheck = require(join(dirname(require.resolve("fast-check/package.json")), "lib/cjs/fast-check.js"));

const factor = Number(process.env.SWITCHYARD_PROPERTY_RUNS || "0.25");
if (!(factor > 0)) {
  throw new Error(`SWITCHYARD_PROPERTY_RUNS must be a number above 0, not "${process.env.SWITCHYARD_PROPERTY_RUNS}"`);
}

function assert(property, parameters = {}) {
  const numRuns = Math.max(1, Math.round((parameters.numRuns ?? 100) * factor));
  return fastCheck.assert(property, { ...parameters, numRuns });
}

module.exports = { ...fastCheck, assert, default: { ...fastCheck.default, assert }, __esModule: true };
