// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { taints } from "@switchyard/api";
import type { HealthReporter, Host } from "@switchyard/host";
import { createFakeKernel, mlx5 } from "@switchyard/host/testing";
import { createClaimsWorld, nodeName, pf } from "../testing/claims-world.ts";
import { renderResourceSlices } from "@switchyard/render";
import { createDevlinkReporters } from "./devlink-reporters.ts";
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

it("reports a devlink reporter in error, and PCIe errors until five minutes after the last one", async () => {
  const kernel = createFakeKernel({ nics: [mlx5(pf)] });
  const known = {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: nodeName },
    status: { interfaces: [{ pciAddress: pf, name: "ens1f0", Vfs: [{ pciAddress: "0000:01:00.2", vfID: 0 }] }] },
  } as const;
  let nowMs = 0;
  const health = createNodeHealth({ host: kernel.host(), nowMs: () => nowMs });
  const problemAt = async (ms: number) => {
    nowMs = ms;
    return (await health.look(known, new Set())).problems.get(pf);
  };
  const countErrors = (fatal: number) => {
    kernel.writeFile(`/sys/bus/pci/devices/${pf}/aer_dev_fatal`, `DLP 0\nTOTAL_ERR_FATAL ${fatal}\n`);
    kernel.writeFile(`/sys/bus/pci/devices/${pf}/aer_dev_nonfatal`, "TOTAL_ERR_NONFATAL 1\n");
  };
  countErrors(3);
  expect(await problemAt(0)).toBeUndefined(); // from before the start
  kernel.setHealth(pf, { name: "fw_fatal", state: "error" });
  await problemAt(10_000);
  expect(await problemAt(11_000)).toEqual({
    reason: "device-error",
    message: `PF ens1f0 (${pf}): the health reporter "fw_fatal" of its driver is in error`,
  });
  kernel.setHealth(pf, { name: "fw_fatal", state: "healthy" });
  await problemAt(20_000);
  expect(await problemAt(26_000)).toBeUndefined();

  countErrors(5);
  await problemAt(30_000);
  expect(await problemAt(31_000)).toEqual({
    reason: "pcie-errors",
    message: `PF ens1f0 (${pf}) has reported 2 uncorrectable PCIe errors`,
  });
  expect(await problemAt(329_000)).toMatchObject({ reason: "pcie-errors" });
  await problemAt(331_000);
  expect(await problemAt(345_000)).toBeUndefined();
});

it("does not wait for a driver that does not answer by devlink, and keeps what it knew", async () => {
  let answer = Promise.resolve<readonly HealthReporter[]>([{ name: "fw", state: "error" }]);
  let asked = 0;
  const reporters = createDevlinkReporters({
    devlink: {
      listHealthReporters: () => {
        asked++;
        return answer;
      },
    } as unknown as Host["devlink"],
  });
  const look = () => reporters.look({ pciAddress: pf });
  expect(await look()).toMatchObject({ reason: "device-error" });
  const late = Promise.withResolvers<readonly HealthReporter[]>();
  answer = late.promise;
  expect(await look()).toMatchObject({ reason: "device-error" });
  expect(await look()).toMatchObject({ reason: "device-error" });
  expect(asked).toBe(2);
  late.resolve([]);
  await late.promise;
  expect(await look()).toBeUndefined();
});
