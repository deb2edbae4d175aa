// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { Node } from "@switchyard/api";
import { isControlPlaneExternal } from "./servers/admission-server.ts";

const node = (role: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: role, labels: { [`node-role.kubernetes.io/${role}`]: "" } },
});

it.each([
  { nodes: [], external: false },
  { nodes: [node("worker")], external: true },
  { nodes: [node("worker"), node("control-plane")], external: false },
  { nodes: [node("master")], external: false },
])("isControlPlaneExternal returns $external for $nodes.length nodes", ({ nodes, external }) => {
  expect(isControlPlaneExternal(nodes)).toBe(external);
});
