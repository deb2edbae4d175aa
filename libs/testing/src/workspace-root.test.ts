// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findWorkspaceRoot } from "./workspace-root.ts";

describe("findWorkspaceRoot", () => {
  it("finds nx.json from any directory below it", () => {
    const root = findWorkspaceRoot(join(process.cwd(), "src/no/such/directory"));
    expect(existsSync(join(root, "nx.json"))).toBe(true);
  });

  it("throws when there is none", () => {
    expect(() => findWorkspaceRoot("/proc")).toThrow(expect.objectContaining({ code: "workspace" }));
  });
});
