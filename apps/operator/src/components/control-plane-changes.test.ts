// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { Node } from "@switchyard/api";
import { changesControlPlane } from "./component-sources.ts";

const node = (role: string, labels = {}): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: role, labels: { [`node-role.kubernetes.io/${role}`]: "", ...labels } },
});

it("changesControlPlane is true only if a node is added, removed or changes its role", () => {
  const [before, after] = [node("worker"), node("worker", { rack: "1" })];
  expect(changesControlPlane({ key: "n", before, after })).toBe(false);
  expect(changesControlPlane({ key: "n", before, after: node("master") })).toBe(true);
  expect(changesControlPlane({ key: "n", before: undefined, after })).toBe(true);
  expect(changesControlPlane({ key: "n", before, after: undefined })).toBe(true);
});
