// SPDX-License-Identifier: Apache-2.0
/** Passes of a daemon that knows which pods have VFs, while the operator evicts them. */
import { describe, expect, it } from "@jest/globals";
import { annotations, ok, type InterfaceSpec, type SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, i40e } from "@switchyard/host/testing";
import { daemonOn } from "../testing/daemon-on.ts";

const [x, y] = ["0000:3b:00.0", "0000:3b:00.1"] as const;

function spec(pciAddress: string, numVfs: number): InterfaceSpec {
  return { pciAddress, numVfs, vfGroups: [{ resourceName: "r", vfRange: `0-${numVfs - 1}` }] };
}

/** A node with two PFs, after its first pass. Pods have the VFs with these addresses. */
async function nodeWith(numVfs: readonly [number, number], held: readonly string[] = []) {
  const kernel = createFakeKernel({ nics: [i40e(x)] });
  const node = { held, request: "Idle", answer: "Idle", vfs: undefined as string | undefined };
  const holder = { namespace: "apps", name: "web", via: "device-plugin", resource: "openshift.io/r" } as const;
  const readHolders = () =>
    Promise.resolve(ok({ byId: new Map(node.held.map((id) => [id, [holder]])), isNewKubelet: false }));
  const daemon = daemonOn(kernel.host(), { drains: true, readHolders });
  const run = async (next: readonly [number, number]) => {
    const state: SriovNetworkNodeState = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodeState",
      metadata: {
        name: "worker-1",
        generation: 1,
        annotations: {
          [annotations.desiredState]: node.request,
          [annotations.currentState]: node.answer,
          ...(node.vfs !== undefined && { [annotations.drainVfs]: node.vfs }),
        },
      },
      spec: { interfaces: [spec(x, next[0]), spec(y, next[1])] },
    };
    const count = daemon.requests.length;
    const result = await daemon.pass(state);
    if (daemon.requests.length > count) {
      node.request = daemon.requests.at(-1) ?? "";
      node.vfs = daemon.requestedVfs.at(-1);
    }
    return result;
  };
  expect(await run(numVfs)).toBe("settled");
  const vfsOf = (pf: number) => daemon.shown()[pf]?.Vfs?.map(({ pciAddress }) => pciAddress) ?? [];
  return { node, daemon, run, vfsOf, numVfs: () => daemon.shown().map((pf) => pf.numVfs ?? 0) };
}

describe("a change of two PFs", () => {
  it("asks for the drain of the VFs that it takes from pods, and does the rest at once", async () => {
    const { node, run, numVfs } = await nodeWith([2, 0]);
    expect(await run([4, 2])).toBe("waiting");
    expect([node.request, node.vfs, numVfs()]).toEqual(["Drain_Required", x, [2, 2]]);
  });

  it("changes the PF of which no pod has VFs as soon as the drain runs, and the other one when it is complete", async () => {
    const { node, run, numVfs, vfsOf } = await nodeWith([2, 2]);
    node.held = vfsOf(0).slice(0, 1);
    expect(await run([4, 4])).toBe("waiting");
    expect([node.vfs, numVfs()]).toEqual([`${x},${y}`, [2, 2]]);
    expect(await run([4, 4])).toBe("waiting");
    expect(numVfs()).toEqual([2, 2]); // it has no slot yet
    node.answer = "Draining";
    expect(await run([4, 4])).toBe("waiting");
    expect([node.vfs, numVfs()]).toEqual([x, [2, 4]]);
    node.held = [];
    node.answer = "DrainComplete";
    expect(await run([4, 4])).toBe("settled");
    expect([node.request, numVfs()]).toEqual(["Idle", [4, 4]]);
  });

  it("ends the drain and asks again if other VFs are needed", async () => {
    const { node, run, vfsOf } = await nodeWith([2, 2]);
    node.held = [...vfsOf(0), ...vfsOf(1)];
    await run([4, 2]);
    node.answer = "Draining";
    await run([4, 4]);
    expect([node.request, node.answer]).toEqual(["Idle", "Draining"]);
    node.answer = "Idle";
    await run([4, 4]);
    expect([node.request, node.vfs]).toEqual(["Drain_Required", `${x},${y}`]);
  });
});
