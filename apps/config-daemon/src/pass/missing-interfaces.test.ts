// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { err, ok, type SriovNetworkNodeState, type SriovNetworkNodeStateStatus, type VfGroup } from "@switchyard/api";
import { createFakeKernel, i40e, pci } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { daemonOn } from "../testing/daemon-on.ts";

const pf = "0000:d8:00.0";
const broken = "0000:d8:02.3";
const problem =
  `spec.interfaces[0].vfGroups[0]: VF 3 of ${pf} is bound to iavf, but has no network interface, so it is not offered to ` +
  "pods; the daemon waits for it, and then binds the driver again once";

function stateOf(group: VfGroup = {}, status?: SriovNetworkNodeStateStatus): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces: [{ pciAddress: pf, numVfs: 5, vfGroups: [{ resourceName: "r", vfRange: "0-4", ...group }] }] },
    ...(status && { status }),
  };
}

/** A kubelet that lists devices of pods, or does not answer. */
function kubeletWith(held: readonly string[] | "no answer" = []) {
  const kubelet = { held, calls: 0 };
  const holder = { namespace: "apps", name: "web-0", via: "device-plugin", resource: "openshift.io/r" } as const;
  const readHolders = () => {
    kubelet.calls += 1;
    if (kubelet.held === "no answer") return Promise.resolve(err("UNAVAILABLE"));
    return Promise.resolve(ok({ byId: new Map(kubelet.held.map((id) => [id, [holder]])), isNewKubelet: false }));
  };
  return Object.assign(kubelet, { readHolders });
}

/** A node on which the driver of VF 3 creates no interface, after its first pass. */
async function nodeWithBrokenVf(kubelet = kubeletWith(), group: VfGroup = {}) {
  const kernel = createFakeKernel({ nics: [i40e(pf)] });
  kernel.withholdInterface(pci(broken), true);
  const daemon = daemonOn(kernel.host(), { drains: true, readHolders: kubelet.readHolders });
  expect(await daemon.pass(stateOf(group))).toBe("retry");
  expect(daemon.error()).toContain(`VF 3 of ${pf} has no network interface after 0.2 s`);
  const binds = () =>
    kernel.writes.filter(({ method, args }) => method === "unbindDriver" && args[0] === broken).length;
  return { kernel, daemon, binds };
}

const vf3 = (daemon: ReturnType<typeof daemonOn>) => daemon.shown()[0]?.Vfs?.[3];

describe("a VF whose driver creates no interface", () => {
  it("is in the status after the first pass, and a problem from the second pass on", async () => {
    const { daemon } = await nodeWithBrokenVf();
    expect(vf3(daemon)?.missingInterface).toBe("waiting");
    await daemon.pass(stateOf());
    expect(daemon.error()).toBe(problem);
    expect([daemon.status().syncStatus, vf3(daemon)?.missingInterface]).toEqual(["Failed", "waiting"]);
  });

  it("is bound again once, without a drain, and stays a problem if that does not help", async () => {
    const { daemon, binds } = await nodeWithBrokenVf();
    await daemon.pass(stateOf());
    await delay(210);
    expect(await daemon.pass(stateOf())).toBe("retry");
    for (let nth = 1; nth <= 3; nth++) expect(await daemon.pass(stateOf())).toBe("settled");
    expect(binds()).toBe(1);
    expect(daemon.error()).toBe(
      `spec.interfaces[0].vfGroups[0]: VF 3 of ${pf} is bound to iavf, but has no network interface, so it is not offered to ` +
        "pods; binding the driver again did not help, and the kernel log may say why",
    );
    expect([daemon.requests, vf3(daemon)?.missingInterface]).toEqual([[], "permanent"]);
  });

  it.each([{ isRdma: false }, { isRdma: true }])(
    "is configured if its driver creates the interface then: $isRdma",
    async (group) => {
      const { kernel, daemon } = await nodeWithBrokenVf(kubeletWith(), group);
      await daemon.pass(stateOf(group));
      kernel.withholdInterface(pci(broken), false);
      await delay(210);
      expect(await daemon.pass(stateOf(group))).toBe("settled");
      expect([daemon.error(), daemon.requests]).toEqual(["", []]);
      const vf = vf3(daemon);
      expect(vf?.name).toMatch(/^enp/);
      expect(vf).not.toHaveProperty("missingInterface");
      expect(vf?.adminMac).toBe(vf?.mac);
    },
  );

  it("is not touched and not claimed while a pod has it", async () => {
    const { daemon, binds } = await nodeWithBrokenVf(kubeletWith([broken]));
    await delay(210);
    for (let nth = 1; nth <= 3; nth++) expect(await daemon.pass(stateOf())).toBe("settled");
    expect([daemon.error(), binds()]).toEqual(["", 0]);
  });

  it("is not touched and not claimed while the kubelet does not answer, and is afterwards", async () => {
    const kubelet = kubeletWith("no answer");
    const { daemon, binds } = await nodeWithBrokenVf(kubelet);
    await delay(210);
    for (let nth = 1; nth <= 3; nth++) expect(await daemon.pass(stateOf())).toBe("settled");
    expect([daemon.error(), binds()]).toEqual(["", 0]);
    kubelet.held = [];
    for (let nth = 1; nth <= 2; nth++) await daemon.pass(stateOf());
    expect(daemon.error()).toBe(problem);
  });

  it("is still known after a restart of the daemon", async () => {
    const { kernel, daemon } = await nodeWithBrokenVf();
    await daemon.pass(stateOf());
    const next = daemonOn(kernel.host(), { readHolders: kubeletWith().readHolders });
    await next.pass(stateOf({}, daemon.status()));
    expect(next.error()).toBe(problem);
  });
});

describe("a VF whose interface is in a pod", () => {
  it("is left alone, also if the kubelet does not know the pod, as with a resource claim", async () => {
    const kernel = createFakeKernel({ nics: [i40e(pf)] });
    const kubelet = kubeletWith();
    const daemon = daemonOn(kernel.host(), { drains: true, readHolders: kubelet.readHolders });
    expect(await daemon.pass(stateOf())).toBe("settled");
    kernel.moveToPod(pci(broken));
    const first = kernel.writes.length;
    await delay(210);
    for (const each of [daemon, daemonOn(kernel.host(), { readHolders: kubelet.readHolders })]) {
      for (let nth = 1; nth <= 3; nth++) expect(await each.pass(stateOf())).toBe("settled");
      expect(each.error()).toBe("");
    }
    expect(kernel.writes.slice(first)).toEqual([]);
  });
});
