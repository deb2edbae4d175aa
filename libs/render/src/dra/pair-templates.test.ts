// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { renderPairTemplates } from "./pair-templates.ts";

const rootsOf = (...roots: readonly string[]) => new Map([["worker-1", new Set(roots)]]);
const vfs = { deviceClass: "fast", roots: rootsOf("pci0000:00", "pci0000:3a") };

it("renders a second template for as many pairs as a node has, each on a root of its own", () => {
  const gpus = { deviceClass: "gpu", roots: rootsOf("pci0000:00", "pci0000:3a", "pci0000:5d") };
  const rendered = renderPairTemplates([vfs], [gpus]);
  expect(rendered.map(({ metadata }) => metadata.name)).toEqual(["gpu-and-fast", "gpu-and-fast-x2"]);
  expect(rendered[1]?.spec.spec.devices).toMatchObject({
    requests: [{ name: "gpu0" }, { name: "nic0" }, { name: "gpu1" }, { name: "nic1" }],
    constraints: [{ requests: ["gpu0", "nic0"] }, { requests: ["gpu1", "nic1"] }],
  });
});

it("renders nothing for devices that share no root on any node, and one pair where roots are not known", () => {
  const elsewhere = { deviceClass: "gpu", roots: new Map([["worker-2", new Set(["pci0000:00"])]]) };
  expect(renderPairTemplates([vfs], [elsewhere])).toEqual([]);
  expect(renderPairTemplates([vfs], [{ deviceClass: "gpu", roots: new Map() }])).toHaveLength(1);
});
