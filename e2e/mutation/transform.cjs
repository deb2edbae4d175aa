// SPDX-License-Identifier: Apache-2.0
/**
 * The transformer of Jest for a run with a mutant: @swc/jest, which gets the source of one file changed. The environment variable
 * SWITCHYARD_MUTANT is that change as JSON: file, start, end and replacement. No file is written.
 */
const swc = require("@swc/jest");

const mutant = JSON.parse(process.env.SWITCHYARD_MUTANT ?? "{}");

function change(source, path) {
  if (path !== mutant.file) return source;
  return source.slice(0, mutant.start) + mutant.replacement + source.slice(mutant.end);
}

module.exports = {
  createTransformer(options) {
    const transformer = swc.createTransformer(options);
    return {
      ...transformer,
      process: (source, path, context) => transformer.process(change(source, path), path, context),
      getCacheKey: (source, path, context) => transformer.getCacheKey(change(source, path), path, context),
    };
  },
};
