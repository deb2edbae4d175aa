// SPDX-License-Identifier: Apache-2.0
export default {
  testMatch: ["**/src/**/*.test.ts", "**/integration/**/*.test.ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } },
    ],
  },
};
