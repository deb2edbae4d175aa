// SPDX-License-Identifier: Apache-2.0
/**
 * Jest runs this before each test file of `npm run e2e`: test clusters keep their logs in dist/test-logs, for vm/ovs.test.ts in
 * dist/test-logs/vm/ovs. The logs of the last run of that file are deleted.
 */
import { expect } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { rmSync } from "node:fs";
import { join, relative } from "node:path";

const root = findWorkspaceRoot();
const { testPath = "unknown" } = expect.getState();
const logs = join(root, "dist/test-logs", relative(join(root, "e2e"), testPath).replace(/[.]test[.]ts$/, ""));
rmSync(logs, { recursive: true, force: true });
process.env["SWITCHYARD_TEST_LOGS"] = logs;
