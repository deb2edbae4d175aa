// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bootConfigPath, type SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { createFakeKernel, igb, mlx5, pci, systemKernelClock, type FakeKernel } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { afxdpOn } from "../testing/afxdp-on.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";
import { kubeletWith } from "../testing/kubelet-with.ts";
import { cleanupUsage, parseCleanupArguments } from "./cleanup-command.ts";
import { runCleanup, type CleanupOptions } from "./run-cleanup.ts";

const pf = "0000:01:00.0";
const other = "0000:01:00.1";
const argumentsFile = "/etc/sriov-operator/kernel-arguments.json";
const foreign = [
  "/etc/modprobe.d/mine.conf",
  "/etc/sriov-operator/infiniband/guids",
  "/etc/systemd/system/sriov-config.service",
  "/var/lib/bpfman/switchyard/mine.o",
];

const state: SriovNetworkNodeState = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1", generation: 1 },
  spec: {
    interfaces: [{ pciAddress: pf, numVfs: 2, mtu: 9000, vfGroups: [{ resourceName: "a", vfRange: "0-1" }] }],
    system: { rdmaMode: "exclusive" },
  },
};

/** A node with a configured PF, a kernel argument, and VFs and files of somebody else. */
async function configuredNode(): Promise<FakeKernel> {
  const kernel = createFakeKernel({ nics: [igb(pf), mlx5("0000:02:00.0")] });
  await kernel.setNumVfsByHand(pci(other), 1);
  for (const path of foreign) kernel.writeFile(path, "mine\n");
  expect(await daemonOn(kernel.host()).pass(state)).toBe("settled");
  kernel.writeFile(argumentsFile, JSON.stringify({ added: ["intel_iommu=on"] }));
  kernel.writeFile("/etc/sriov-operator/reboot.json", "{}");
  kernel.writeFile("/etc/sriov-operator/virtual-nics.json", "{}");
  kernel.writeFile("/var/lib/bpfman/switchyard/xsk_redirect.o", "\u007fELF");
  kernel.setNextArgumentsByHand(["ro", "iommu=pt", "intel_iommu=on"]);
  return kernel;
}

async function cleanup(host: Host, options: Partial<CleanupOptions> = {}) {
  const lines: string[] = [];
  const failures: string[] = [];
  const exitCode = await runCleanup({
    host,
    keepsVfs: false,
    isDryRun: false,
    maxHanging: 4,
    readKubelet: kubeletWith().read,
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
    fail: (line) => failures.push(line),
    timing: {
      stepDeadlineMs: 60_000,
      linkTimeoutMs: 200,
      udevTimeoutMs: 1_000,
      nowMs: systemKernelClock.nowMs,
      sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined),
    },
    ...options,
  });
  return { exitCode, lines, failures };
}

/** What the node has: VFs and MTU of the PF, VFs of the other PF, records, files, arguments of the next boot. */
async function seen(kernel: FakeKernel) {
  const { sriov, links, records } = kernel.host();
  const mtu = (await links.listLinks()).find(({ parent }) => parent?.name === pf)?.mtu;
  return {
    vfs: (await sriov.readPf(pci(pf)))?.sriov?.numVfs,
    mtu,
    others: (await sriov.readPf(pci(other)))?.sriov?.numVfs,
    records: [...(await records.list()).keys()],
    files: kernel.listFiles(),
    next: kernel.nextArguments(),
  };
}

const clean = { vfs: 0, mtu: 1_500, others: 1, records: [], files: [...foreign].sort(), next: ["ro", "iommu=pt"] };

describe("config-daemon cleanup", () => {
  it("resets the PFs of Switchyard, removes its files and kernel arguments, and touches nothing else", async () => {
    const kernel = await configuredNode();
    expect(await cleanup(kernel.host())).toMatchObject({ exitCode: 0, failures: [] });
    expect(await seen(kernel)).toEqual(clean);
    expect(await cleanup(kernel.host())).toEqual({ exitCode: 0, lines: [], failures: [] });
    expect(kernel.requestedReboots).toEqual([]);
  });

  it("gives AF_XDP devices back, with their subfunctions, and removes records of devices that are gone", async () => {
    const card = pci("0000:02:00.0");
    const interfaces = [card, "0000:02:00.1"].map((pciAddress) => {
      return { pciAddress, poolName: "fast", numSfs: 2, mode: "subfunction" } as const;
    });
    const kernel = createFakeKernel({ nics: [mlx5("0000:02:00.0")] });
    const host = kernel.host();
    await afxdpOn(host).pass({ interfaces });
    const list = async () => [(await host.subfunctions.list()).length, (await host.afxdpRecords.list()).size];
    expect(await list()).toEqual([4, 2]);
    kernel.unplug(pci("0000:02:00.1"));
    const shown = (await cleanup(host, { isDryRun: true })).lines;
    expect(shown).toContain("would release 0000:02:00.1");
    const { lines, ...rest } = await cleanup(host);
    expect(rest).toEqual({ exitCode: 0, failures: [] });
    expect(lines.map((line) => `would ${line}`).sort()).toEqual([...shown].sort());
    expect([await list(), await host.devlink.readEswitchMode(card)]).toEqual([[0, 0], "legacy"]);
  });

  it("removes the AF_XDP record of a card whose slot has another one, and does not change that one", async () => {
    const card = pci("0000:02:00.0");
    const kernel = createFakeKernel({ nics: [mlx5(card, { ports: 1 })] });
    const spec = { pciAddress: card, poolName: "fast", mtu: 9000, mode: "primary" } as const;
    await afxdpOn(kernel.host()).pass({ interfaces: [spec] });
    kernel.unplug(card);
    kernel.plug(igb(card, { ports: 1 }));
    const count = kernel.writes.length;
    expect((await cleanup(kernel.host(), { isDryRun: true })).lines).toEqual([`would release ${card}`]);
    expect(await cleanup(kernel.host())).toEqual({ exitCode: 0, failures: [], lines: [`release ${card}`] });
    expect(kernel.writes.slice(count).map(({ port, method }) => `${port}.${method}`)).toEqual([
      "files.remove",
      "udev.reloadRules",
      "afxdpRecords.remove",
    ]);
  });

  it("keeps the subfunctions of AF_XDP devices on request, and removes the record", async () => {
    const kernel = createFakeKernel({ nics: [mlx5("0000:02:00.0", { ports: 1 })] });
    const spec = { pciAddress: "0000:02:00.0", poolName: "fast", numSfs: 2, mode: "subfunction" } as const;
    await afxdpOn(kernel.host()).pass({ interfaces: [spec] });
    expect((await cleanup(kernel.host(), { keepsVfs: true })).lines).toEqual(["release 0000:02:00.0"]);
    expect((await kernel.host().subfunctions.list()).length).toBe(2);
    expect((await kernel.host().afxdpRecords.list()).size).toBe(0);
  });

  it("lists exactly what it would do, and changes nothing", async () => {
    const kernel = await configuredNode();
    const before = await seen(kernel);
    const writes = kernel.writes.length;
    const { lines: said } = await cleanup(kernel.host(), { isDryRun: true });
    expect(said.filter((line) => !line.startsWith("would "))).toEqual([]);
    const shown = said.map((line) => line.slice("would ".length));
    expect([await seen(kernel), kernel.writes.length]).toEqual([before, writes]);
    expect(shown).toEqual(
      expect.arrayContaining([
        `set sriov_numvfs 2 -> 0 on ${pf}`,
        `release ${pf}`,
        "change kernel arguments of the next boot: remove intel_iommu=on",
        "remove /etc/sriov-operator/reboot.json",
        "remove /etc/sriov-operator/virtual-nics.json",
      ]),
    );
    const { lines } = await cleanup(kernel.host());
    expect(shown).toEqual(expect.arrayContaining([...lines]));
    // The step that releases a PF also removes its udev rules.
    const others = shown.filter((line) => !lines.includes(line));
    expect(others).toEqual(["remove /etc/udev/rules.d/10-nm-disable-0000:01:00.0.rules"]);
    expect((await cleanup(kernel.host(), { isDryRun: true })).lines).toEqual(["nothing to do"]);
  });

  it("keeps VFs and MTU on request, and removes everything else", async () => {
    const kernel = await configuredNode();
    expect((await cleanup(kernel.host(), { keepsVfs: true })).exitCode).toBe(0);
    expect(await seen(kernel)).toEqual({ ...clean, vfs: 2, mtu: 9_000 });
  });

  it("removes the record of a PF that the node does not have any more", async () => {
    const kernel = await configuredNode();
    kernel.unplug(pci(pf));
    expect(await cleanup(kernel.host())).toMatchObject({ exitCode: 0, failures: [] });
    expect((await seen(kernel)).records).toEqual([]);
  });

  it("reports what fails, and removes the rest", async () => {
    const kernel = await configuredNode();
    const fault = kernel.fault({ port: "sriov", method: "setNumVfs", target: pf }, { code: "EIO" });
    const failing = kernel.fault({ port: "kernelArguments", method: "setNext" }, { code: "ETIMEDOUT" });
    const { exitCode, failures } = await cleanup(kernel.host());
    expect(exitCode).toBe(1);
    expect(failures).toEqual([
      `set sriov_numvfs 0 on ${pf}: EIO`,
      "set kernel arguments (not intel_iommu=on) on the boot loader: ETIMEDOUT",
    ]);
    expect((await seen(kernel)).records).toEqual([pf]);
    fault.lift();
    failing.lift();
    expect((await cleanup(kernel.host())).exitCode).toBe(0);
    expect(await seen(kernel)).toEqual(clean);
  });

  it("leaves a boot configuration that it has not written", async () => {
    const kernel = await configuredNode();
    kernel.writeFile(bootConfigPath, "# mine\n");
    await cleanup(kernel.host());
    expect(kernel.listFiles()).toContain(bootConfigPath);
  });

  it.each(Array.from({ length: 10 }, (_, index) => index + 1))(
    "can be killed at write %i and run again",
    async (nth) => {
      for (const isDone of [true, false]) {
        const kernel = await configuredNode();
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        await Promise.race([cleanup(killed.host), killed.death]);
        expect((await cleanup(kernel.host())).exitCode).toBe(0);
        expect(await seen(kernel)).toEqual(clean);
      }
    },
  );
});

describe("parseCleanupArguments", () => {
  it("reads the flags", () => {
    const value = { hostRoot: "/", keepsVfs: true, isDryRun: true };
    expect(parseCleanupArguments(["--keep-vfs", "--dry-run", "--host-root", "/"])).toEqual({ ok: true, value });
  });

  it.each([["--keep"], ["now"], ["--host-root"], ["--state-directory=/var/../etc"]])("refuses %s", (argument) => {
    expect(parseCleanupArguments([argument])).toEqual({ ok: false, error: expect.stringContaining(cleanupUsage) });
  });
});
