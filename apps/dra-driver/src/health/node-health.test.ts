// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { taints } from "@switchyard/api";
import { createClaimsWorld, nodeName, pf } from "../testing/claims-world.ts";
import { renderResourceSlices } from "@switchyard/render";
import { createNodeHealth, deviceHealth, taintsOf } from "./node-health.ts";

it("says in taints and to the kubelet what is wrong with a PF, and with a VF that a claim has", async () => {
  const { kernel, state, vfs } = await createClaimsWorld();
  const nic = { ...state.status?.interfaces?.[0], pciAddress: pf, name: "ens1f0", linkAdminState: "up" };
  const known = { ...state, status: { interfaces: [nic] } };
  kernel.writeFile("/sys/class/net/ens1f0/carrier", "1\n");
  let nowMs = 0;
  const health = createNodeHealth({ host: kernel.host(), nowMs: () => nowMs });
  const look = async (prepared: readonly string[] = []) => {
    const judgement = await health.look(known, new Set(prepared));
    const found = taintsOf(judgement);
    const slices = renderResourceSlices({
      ...{ nodeName, nodeUid: "u", state: known, withheld: new Map(), taints: found },
      resources: { prefix: "openshift.io" },
    });
    return { taints: found, devices: deviceHealth(slices, judgement, { state: known, nowSeconds: 5 }) };
  };
  expect((await look()).devices.map((device) => device.health)).toEqual(vfs.map(() => "healthy"));

  kernel.writeFile("/sys/class/net/ens1f0/carrier", "0\n");
  expect((await look()).taints.size).toBe(0); // not yet
  expect(health.nextMs()).toBe(1_000);
  nowMs = 1_000;
  const down = await look();
  expect(down.taints.get(pf)).toEqual([{ key: taints.unhealthy, value: "no-carrier", effect: "NoSchedule" }]);
  expect(
    down.devices.every(
      ({ health: each, message }) => each === "unhealthy" && message === `PF ens1f0 (${pf}) has no carrier`,
    ),
  ).toBe(true);

  kernel.writeFile("/sys/class/net/ens1f0/carrier", "1\n");
  await look();
  nowMs = 7_000;
  expect((await look()).taints.size).toBe(0);

  const [vf0 = ""] = vfs;
  await look([vf0]);
  kernel.unbindByHand(vf0 as never);
  await look([vf0]);
  nowMs = 9_000;
  const lost = await look([vf0]);
  expect(lost.taints.get(vf0)).toMatchObject([{ value: "driver-lost" }]);
  expect(lost.devices.filter((device) => device.health === "unhealthy").map(({ message }) => message)).toEqual([
    `VF ${vf0} has no driver`,
  ]);
  kernel.unplug(pf);
  await look();
  nowMs = 11_000;
  expect((await look()).taints.get(pf)).toMatchObject([{ value: "pf-gone" }]);
});
