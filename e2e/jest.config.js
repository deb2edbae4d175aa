// SPDX-License-Identifier: Apache-2.0
/** The tests of `npm run e2e`, which need a virtual machine, network namespaces or several minutes. `npm test` runs e2e/integration. */
import base from "../jest.config.js";

const folders = [
  "accidents",
  "vm",
  "faults",
  "fidelity",
  "dra",
  "quirks",
  "eve-bridge",
  "nri",
  "afxdp",
  "upgrade",
  "migration",
  "cluster",
  "release",
  "site",
  "page",
  "headlamp",
  "guides",
  "macos",
  "images",
  "ovn-offload",
  "security",
  "monitoring",
  "versions",
  "mutation",
  "fuzz",
];

export default {
  ...base,
  testTimeout: 900_000, // virtual machines are slow without hardware virtualization
  testMatch: folders.map((folder) => `**/${folder}/**/*.test.ts`),
  setupFilesAfterEnv: ["<rootDir>/src/keep-test-logs.ts"],
};
