// SPDX-License-Identifier: Apache-2.0
/** Tests the systemd mode of AF_XDP devices on the fake kernel: passes of the daemon, reboots, and the phases of each boot. */
import { describe, expect, it } from "@jest/globals";
import { bootConfigPath, type AfxdpInterfaceSpec } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { createFakeKernel, igb, mlx5, pci, systemKernelClock, type FakeKernel } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { afxdpBootConfigPath, afxdpBootResultPath, formatAfxdpBootConfig } from "../boot-files/afxdp-boot-config.ts";
import { formatBootConfig } from "../boot-files/boot-config.ts";
import { bootResultPath, formatBootResult, parseBootResult, type BootPhase } from "../boot-files/boot-result.ts";
import { runPhase } from "../boot/run-phase.ts";
import { afxdpOn } from "../testing/afxdp-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";
import { silentLogger } from "@switchyard/service/testing";
import { keepAfxdpBoot } from "./afxdp-boot.ts";
import { removeBoot } from "./remove-boot.ts";

const pf = pci("0000:3b:00.0");
const other = pci("0000:01:00.0");
const sfs: AfxdpInterfaceSpec = {
  pciAddress: pf,
  mode: "subfunction",
  poolName: "fast",
  numSfs: 2,
  mtu: 9000,
  queues: 4,
};
const primary: AfxdpInterfaceSpec = { pciAddress: other, mode: "primary", poolName: "other", mtu: 9000, queues: 4 };
const makeKernel = () => createFakeKernel({ nics: [igb(other, { ports: 1 }), mlx5(pf, { ports: 1 })] });
const daemonOn = (kernel: FakeKernel) => afxdpOn(kernel.host(), { keepBoot: keepAfxdpBoot });

async function run(host: Host, phase: BootPhase, limitMs = 60_000): Promise<number> {
  const sleep = (ms: number, signal: AbortSignal) =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  return runPhase({
    phase,
    host,
    maxHanging: 4,
    limitMs,
    signal: new AbortController().signal,
    log: () => undefined,
    timing: { stepDeadlineMs: 60_000, linkTimeoutMs: 200, udevTimeoutMs: 1_000, nowMs: systemKernelClock.nowMs, sleep },
    lock: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
  });
}

async function boot(kernel: FakeKernel): Promise<readonly number[]> {
  kernel.reboot();
  return [await run(kernel.host(), "pre"), await run(kernel.host(), "post")];
}

/** What the kubelet finds. */
async function stateOf(kernel: FakeKernel) {
  const { devlink, links, subfunctions, xdp } = kernel.host();
  const all = await links.listLinks();
  const settingsOf = async (name = "") => {
    const link = all.find((each) => each.name === name);
    return link && { mtu: link.mtu, mac: link.mac, queues: (await xdp.readQueues(name))?.count };
  };
  const uplink = all.find(({ parent }) => parent?.name === other);
  return {
    mode: await devlink.readEswitchMode(pf),
    subfunctions: await Promise.all((await subfunctions.list()).map(({ netdev }) => settingsOf(netdev))),
    primary: await settingsOf(uplink?.name),
  };
}

const filesOf = async (kernel: FakeKernel) => {
  const { files } = kernel.host();
  return [await files.readText(afxdpBootConfigPath), await files.readText(afxdpBootResultPath)] as const;
};
const resultOf = async (kernel: FakeKernel) => parseBootResult((await filesOf(kernel))[1] ?? "");

describe("AF_XDP devices of a node in systemd mode", () => {
  it("have their subfunctions, MTU, queues, eswitch mode and addresses after a boot without the daemon", async () => {
    const kernel = makeKernel();
    const spec = { interfaces: [sfs, primary] };
    expect(await daemonOn(kernel).pass(spec)).toBe("settled");
    const before = await stateOf(kernel);
    expect(await boot(kernel)).toEqual([0, 0]);
    expect(await stateOf(kernel)).toEqual(before);
    expect(before).toMatchObject({ mode: "switchdev", primary: { mtu: 9000, queues: 4 } });
    expect(before.subfunctions).toMatchObject([{ mtu: 9000, queues: 4 }, { mtu: 9000, queues: 4 }]); // prettier-ignore
    expect(await resultOf(kernel)).toMatchObject({ syncStatus: "Succeeded", lastSyncError: "" });

    const count = kernel.writes.length;
    expect(await daemonOn(kernel).pass(spec)).toBe("settled");
    expect(kernel.writes.slice(count)).toEqual([]);
  });

  it("are not configured before the network is up, and whatever became of the PFs", async () => {
    const kernel = makeKernel();
    await daemonOn(kernel).pass({ interfaces: [sfs] });
    kernel.writeFile(bootConfigPath, "spec: {");
    kernel.reboot();
    expect(await run(kernel.host(), "pre")).toBe(1);
    expect((await stateOf(kernel)).subfunctions).toEqual([]);
    expect(await run(kernel.host(), "post")).toBe(1);
    expect((await stateOf(kernel)).subfunctions.length).toBe(2);
    expect(await resultOf(kernel)).toMatchObject({ syncStatus: "Succeeded" });
    const ofPfs = parseBootResult((await kernel.host().files.readText(bootResultPath)) ?? "");
    expect(ofPfs?.lastSyncError).toMatch(/^post: .*sriov-interface-config/);
  });

  it("are not taken by a boot if they carry the route to the API server", async () => {
    const kernel = makeKernel();
    kernel.writeFile(bootConfigPath, formatBootConfig({ spec: {}, apiServerAddresses: ["192.0.2.1"] }));
    kernel.writeFile(afxdpBootConfigPath, formatAfxdpBootConfig([primary]));
    kernel.reboot();
    const before = await stateOf(kernel);
    kernel.addRouteByHand("192.0.2.1", (await kernel.host().sriov.readPf(other))?.netdevs[0] ?? "");
    await run(kernel.host(), "post");
    expect(await stateOf(kernel)).toEqual(before);
    expect(await resultOf(kernel)).toMatchObject({
      syncStatus: "Failed",
      lastSyncError: expect.stringContaining("route to the API server 192.0.2.1"),
    });
  });

  it("are not changed by a boot if SR-IOV policies select them", async () => {
    const kernel = makeKernel();
    kernel.writeFile(afxdpBootConfigPath, formatAfxdpBootConfig([sfs, primary]));
    const config = formatBootConfig({ spec: { interfaces: [{ pciAddress: pf, numVfs: 0 }] } });
    kernel.writeFile(bootConfigPath, config);
    expect(await boot(kernel)).toEqual([0, 1]);
    expect(await stateOf(kernel)).toMatchObject({ mode: "legacy", subfunctions: [], primary: { mtu: 9000 } });
    const message = `spec.interfaces[0]: ${pf} is not changed: SR-IOV policies select it`;
    expect(await resultOf(kernel)).toMatchObject({ syncStatus: "Failed", lastSyncError: `post: ${message}` });
  });

  it("show an error of the boot in the status as long as the daemon cannot repair it", async () => {
    const kernel = makeKernel();
    const spec = { interfaces: [sfs, primary] };
    await daemonOn(kernel).pass(spec);
    const fault = kernel.fault({ port: "subfunctions", method: "create" }, { code: "ENOSPC" });
    expect(await boot(kernel)).toEqual([0, 1]);
    expect((await stateOf(kernel)).primary).toMatchObject({ mtu: 9000 });
    const daemon = daemonOn(kernel);
    expect(await daemon.pass(spec)).toBe("retry");
    expect(daemon.error()).toContain(`spec.interfaces: post: create subfunction 0 on ${pf}: ENOSPC`);
    fault.lift();
    expect([await daemon.pass(spec), daemon.error()]).toEqual(["settled", ""]);
    await boot(kernel);
    expect(await resultOf(kernel)).toMatchObject({ syncStatus: "Succeeded" });
  });

  it("are reported as unfinished if the kernel does not answer, without a change of what is reported about PFs", async () => {
    const kernel = makeKernel();
    kernel.writeFile(bootConfigPath, formatBootConfig({ spec: {} }));
    kernel.writeFile(afxdpBootConfigPath, formatAfxdpBootConfig([sfs]));
    const until = Promise.withResolvers<undefined>();
    kernel.fault({ port: "subfunctions", method: "create", nth: 1 }, { until: until.promise });
    expect(await run(kernel.host(), "post", 300)).toBe(1);
    const daemon = daemonOn(kernel);
    const ofPfs = parseBootResult((await kernel.host().files.readText(bootResultPath)) ?? "");
    expect([ofPfs?.syncStatus, (await resultOf(kernel))?.syncStatus]).toEqual(["Succeeded", "InProgress"]);
    const fault = kernel.fault({ port: "subfunctions", method: "create" }, { code: "EIO" });
    await daemon.pass({ interfaces: [sfs] });
    expect(daemon.error()).toContain("sriov-config-post-network.service has not finished in this boot");
    fault.lift();
    until.resolve(undefined);
  });

  it("report a file that cannot be read, and entries that are not valid", async () => {
    const kernel = makeKernel();
    kernel.writeFile(afxdpBootConfigPath, "{");
    expect(await boot(kernel)).toEqual([0, 1]);
    const error = `post: ${afxdpBootConfigPath}: the file is not valid JSON`;
    expect(await resultOf(kernel)).toMatchObject({ syncStatus: "Failed", lastSyncError: error });
    kernel.writeFile(afxdpBootConfigPath, JSON.stringify({ interfaces: [{ ...sfs, numSfs: -1 }, primary] }));
    expect(await boot(kernel)).toEqual([0, 1]);
    expect((await resultOf(kernel))?.lastSyncError).toContain("interfaces[0].numSfs is not a whole number");
    expect(await stateOf(kernel)).toMatchObject({ subfunctions: [], primary: { mtu: 9000 } });
  });

  it("have a file that is written for a change only, without devices that the host uses or another tool manages", async () => {
    const kernel = makeKernel();
    const { files, sriov } = kernel.host();
    await daemonOn(kernel).pass({ interfaces: [{ ...sfs, externallyManaged: true }, primary] });
    expect((await filesOf(kernel))[0]).toBe(formatAfxdpBootConfig([primary]));
    const writesOf = () => kernel.writes.filter(({ port }) => port === "files").length;
    const count = writesOf();
    await daemonOn(kernel).pass({ interfaces: [primary] });
    expect(writesOf()).toBe(count);
    kernel.addRouteByHand("default", (await sriov.readPf(other))?.netdevs[0] ?? "");
    await daemonOn(kernel).pass({ interfaces: [sfs, primary] });
    expect(await files.readText(afxdpBootConfigPath)).toBe(formatAfxdpBootConfig([sfs]));
  });

  it("have no file after the last policy, and in daemon mode; a file of an administrator stays", async () => {
    const kernel = makeKernel();
    await daemonOn(kernel).pass({ interfaces: [sfs] });
    await boot(kernel);
    await daemonOn(kernel).pass({ unselected: [pf] });
    expect(await filesOf(kernel)).toEqual([undefined, undefined]);
    kernel.writeFile(afxdpBootConfigPath, formatAfxdpBootConfig([sfs]));
    const result = { syncStatus: "Succeeded", lastSyncError: "", bootID: "1", configDigest: "2" } as const;
    kernel.writeFile(afxdpBootResultPath, formatBootResult(result));
    await removeBoot(kernel.host(), silentLogger);
    expect(await filesOf(kernel)).toEqual([undefined, undefined]);
    kernel.writeFile(afxdpBootConfigPath, "mine");
    await removeBoot(kernel.host(), silentLogger);
    expect(await filesOf(kernel)).toEqual(["mine", undefined]);
  });

  it("are configured by the next phase or boot after a SIGKILL before and after each write", async () => {
    for (const isDone of [false, true]) {
      for (let nth = 1; ; nth++) {
        const kernel = makeKernel();
        kernel.writeFile(afxdpBootConfigPath, formatAfxdpBootConfig([sfs]));
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        const end = await Promise.race([run(killed.host, "post"), killed.death]);
        expect(await run(kernel.host(), "post")).toBe(0);
        expect([nth, (await stateOf(kernel)).subfunctions.length]).toEqual([nth, 2]);
        if (typeof end === "number") break;
      }
    }
  }, 60_000);
});
