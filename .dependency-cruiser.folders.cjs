// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run lint:cycles` forbids that folders import each other, directly or through others: a folder has its place above or
 * below every other. A folder and those inside it count as one. Tests and folders named testing are left out, since they may
 * use everything.
 */
const { options } = require("./.dependency-cruiser.cjs");

module.exports = {
  forbidden: [{ name: "no-folder-cycles", severity: "error", scope: "folder", from: {}, to: { circular: true } }],
  options: { ...options, exclude: { path: "(^|/)dist/|\\.(?:test|fuzz)\\.ts$|/testing/" } },
};
