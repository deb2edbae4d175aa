// SPDX-License-Identifier: Apache-2.0
/** `npm run lint:cycles` forbids import cycles within and between projects, those of `import type` and `import()` too. */
module.exports = {
  forbidden: [{ name: "no-cycles", severity: "error", from: {}, to: { circular: true } }],
  options: {
    exclude: { path: "(^|/)dist/" },
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true, // sees `import type`
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".js", ".mjs"],
    },
  },
};
