// SPDX-License-Identifier: Apache-2.0
/** Tests the systemd mode on the fake kernel: passes of the daemon, reboots, and the two phases of each boot. */
import { describe, expect, it } from "@jest/globals";
import { bootConfigPath, bootUnits, type SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import {
  createFakeKernel,
  igb,
  pci,
  systemKernelClock,
  upstreamSystemdMode,
  upstreamUnitLinks,
  type FakeKernel,
} from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { bootResultPath } from "../boot-files/boot-result.ts";
import { runPhase } from "../boot/run-phase.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";
import { silentLogger } from "@switchyard/service/testing";
import { removeUpstreamLeftovers } from "../upstream/upstream-leftovers.ts";
import { removeBoot } from "./remove-boot.ts";
import { createSystemdMode } from "./plan-for-boot.ts";

const pf = "0000:01:00.0";
const units = ["/etc/systemd/system/sriov-config-post-network.service", "/etc/systemd/system/sriov-config.service"];
const links = units.map((path) => path.replace("system/sriov", "system/multi-user.target.wants/sriov"));

function asking(numVfs: number, annotations: Readonly<Record<string, string>> = {}) {
  const interfaces = numVfs === 0 ? [] : [{ pciAddress: pf, numVfs, vfGroups: [{ vfRange: `0-${numVfs - 1}` }] }];
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1, annotations },
    spec: { interfaces },
  } as const satisfies SriovNetworkNodeState;
}

const sleep = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
const timing = {
  stepDeadlineMs: 60_000,
  linkTimeoutMs: 200,
  udevTimeoutMs: 1_000,
  nowMs: systemKernelClock.nowMs,
  sleep,
};

interface ModeOptions {
  readonly unitsFromMachineConfig?: boolean;
  readonly drains?: boolean;
}

function daemonIn(host: Host, { unitsFromMachineConfig = false, drains = false }: ModeOptions = {}) {
  const program = () => Promise.resolve({ id: "v1", files: [] });
  const options = {
    program,
    unitsFromMachineConfig,
    maxPfs: 4,
    log: silentLogger,
    timing,
    now: () => new Date(),
    apiServerAddresses: () => Promise.resolve([]),
  };
  return daemonOn(host, { drains, beginPass: (guard) => createSystemdMode(host, { ...options, guard }) });
}

/** Runs a pass until the daemon requests a reboot, and stops the daemon as systemd does. */
async function passUntilReboot(kernel: FakeKernel, daemon: ReturnType<typeof daemonOn>, given: SriovNetworkNodeState) {
  const before = kernel.requestedReboots.length;
  const stopped = new AbortController();
  let ended: unknown;
  const passing = daemon.pass(given, stopped.signal).then(
    (result) => (ended = result),
    (error: unknown) => (ended = error),
  );
  while (kernel.requestedReboots.length === before) {
    if (ended !== undefined) throw new Error(`the pass ended without a reboot: ${daemon.error()}`, { cause: ended });
    await delay(2);
  }
  stopped.abort(new Error("SIGTERM"));
  await passing;
}

/** Boots the node with both phases, if their units are enabled. */
async function boot(kernel: FakeKernel): Promise<void> {
  kernel.reboot();
  const host = kernel.host();
  for (const [nth, phase] of (["pre", "post"] as const).entries()) {
    const { unitFileState } = await host.systemd.readUnit(bootUnits[nth]?.name ?? "");
    if (unitFileState !== "enabled") continue;
    await runPhase({
      phase,
      host,
      timing,
      maxHanging: 4,
      limitMs: 60_000,
      signal: new AbortController().signal,
      lock: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
      log: () => undefined,
    });
  }
}

/** The files of the host without the udev rules of PFs, which stay with their VFs. */
function filesOf(kernel: FakeKernel): readonly string[] {
  return kernel.listFiles().filter((path) => !path.startsWith("/etc/udev/"));
}

async function driversOf(kernel: FakeKernel): Promise<readonly (string | undefined)[]> {
  return ((await kernel.host().sriov.readPf(pci(pf)))?.sriov?.vfs ?? []).map(({ driver }) => driver);
}

describe("a node in systemd mode", () => {
  it("gets the program, the configuration and enabled units, and does not reboot for an empty configuration", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    const daemon = daemonIn(kernel.host());
    expect(await daemon.pass(asking(0))).toBe("settled");
    expect(filesOf(kernel)).toEqual([bootConfigPath, ...links, ...units].sort());
    expect(await kernel.host().bootProgram.readVersion()).toBe("v1");
    expect(kernel.requestedReboots).toEqual([]);

    const writes = kernel.writes.length;
    await daemon.pass(asking(0));
    expect(kernel.writes.length).toBe(writes);
  });

  it("is drained and reboots for a new configuration, and reports success after the boot", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    const first = daemonIn(kernel.host(), { drains: true });
    expect(await first.pass(asking(2))).toBe("waiting");
    expect(first.requests).toEqual(["Reboot_Required"]);
    const drained = asking(2, {
      "sriovnetwork.openshift.io/desired-state": "Reboot_Required",
      "sriovnetwork.openshift.io/current-state": "DrainComplete",
    });
    await passUntilReboot(kernel, daemonIn(kernel.host(), { drains: true }), drained);
    expect(await driversOf(kernel)).toEqual([]);

    await boot(kernel);
    expect(await driversOf(kernel)).toEqual(["igbvf", "igbvf"]); // before any daemon or API server
    const second = daemonIn(kernel.host(), { drains: true });
    expect(await second.pass(drained)).toBe("settled");
    expect([second.error(), second.requests]).toEqual(["", ["Idle"]]);
    expect(kernel.requestedReboots).toHaveLength(1);
  });

  it("does not reboot if it matches the configuration already", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    expect(await daemonOn(kernel.host()).pass(asking(2))).toBe("settled"); // in daemon mode
    const daemon = daemonIn(kernel.host());
    expect([await daemon.pass(asking(2)), daemon.error()]).toEqual(["settled", ""]);
    expect(kernel.requestedReboots).toEqual([]);
  });

  it("reboots for each new configuration, also for an earlier one", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    for (const numVfs of [2, 3, 2]) {
      await passUntilReboot(kernel, daemonIn(kernel.host()), asking(numVfs));
      await boot(kernel);
      const daemon = daemonIn(kernel.host());
      expect([await daemon.pass(asking(numVfs)), daemon.error()]).toEqual(["settled", ""]);
      expect(await driversOf(kernel)).toHaveLength(numVfs);
    }
    expect(kernel.requestedReboots).toHaveLength(3);
  });

  it("reports the error of the boot, and does not reboot again", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    await passUntilReboot(kernel, daemonIn(kernel.host()), asking(2));
    kernel.fault({ port: "sriov", method: "setNumVfs", target: pci(pf) }, { code: "EIO" });
    await boot(kernel);
    const daemon = daemonIn(kernel.host());
    for (const _pass of ["first", "second"]) await daemon.pass(asking(2));
    expect(daemon.error()).toBe(`spec.interfaces: post: set sriov_numvfs 2 on ${pf}: EIO`);
    expect(kernel.requestedReboots).toHaveLength(1);
  });

  it("reports units that did not run, and does not reboot again", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    await passUntilReboot(kernel, daemonIn(kernel.host()), asking(2));
    kernel.reboot();
    const daemon = daemonIn(kernel.host());
    await daemon.pass(asking(2));
    expect(daemon.error()).toContain("pre: sriov-config.service did not run in the last boot");
    expect(kernel.requestedReboots).toHaveLength(1);
  });

  it("replaces what the Go operator installed", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    for (const [path, text] of upstreamSystemdMode()) kernel.writeFile(path, text);
    for (const [path, target] of upstreamUnitLinks) kernel.linkFile(path, target);
    await daemonIn(kernel.host()).pass(asking(0));
    expect(filesOf(kernel)).toEqual([bootConfigPath, ...links, ...units].sort());
    for (const { name, text } of bootUnits) {
      expect(await kernel.host().files.readText(`/etc/systemd/system/${name}`)).toBe(text);
    }
  });

  it("does not replace a unit of an administrator, and says so", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    const path = "/etc/systemd/system/sriov-config.service";
    kernel.writeFile(path, "[Service]\nExecStart=/usr/local/bin/vfs\n");
    const daemon = daemonIn(kernel.host());
    await daemon.pass(asking(2));
    expect(daemon.error()).toContain(`${path} was not written by Switchyard`);
    expect(kernel.requestedReboots).toEqual([]);
  });

  it("waits for the units of a MachineConfig, and writes none itself", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    const daemon = daemonIn(kernel.host(), { unitsFromMachineConfig: true });
    await daemon.pass(asking(2));
    expect(daemon.error()).toContain(
      "unit sriov-config.service is not enabled yet; the Machine Config Operator installs it",
    );
    expect(kernel.listFiles()).not.toContain(units[0]);
  });

  it.each([
    { what: "the configuration cannot be written", port: "files", method: "writeText", error: "write on /etc" },
    { what: "the program cannot be copied", port: "bootProgram", method: "install", error: "install version v1" },
    { what: "a unit cannot be enabled", port: "systemd", method: "enableUnits", error: "" },
  ] as const)("is Failed, and does not reboot, if $what", async ({ port, method, error }) => {
    const kernel = createFakeKernel({ nics: [igb(pf)] });
    const fault = kernel.fault({ port, method }, { code: "EROFS" });
    const daemon = daemonIn(kernel.host());
    expect(await daemon.pass(asking(2))).toBe("retry");
    expect(daemon.error()).toContain(error);
    expect([daemon.phases.at(-1)?.kind, kernel.requestedReboots]).toEqual(["failed", []]);
    fault.lift();
    await passUntilReboot(kernel, daemon, asking(2));
  });

  it("converges after a SIGKILL of the daemon before and after each write", async () => {
    for (const isDone of [false, true]) {
      for (let nth = 1; ; nth++) {
        const kernel = createFakeKernel({ nics: [igb(pf)] });
        for (const [path, text] of upstreamSystemdMode()) kernel.writeFile(path, text);
        for (const [path, target] of upstreamUnitLinks) kernel.linkFile(path, target);
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        const daemon = daemonIn(killed.host);
        const survived = passUntilReboot(kernel, daemon, asking(2)).then(() => "survived");
        const end = await Promise.race([survived, killed.death]);
        if (kernel.requestedReboots.length === 0) await passUntilReboot(kernel, daemonIn(kernel.host()), asking(2));
        await boot(kernel);
        const next = daemonIn(kernel.host());
        expect([nth, isDone, await next.pass(asking(2)), next.error()]).toEqual([nth, isDone, "settled", ""]);
        expect(await driversOf(kernel)).toEqual(["igbvf", "igbvf"]);
        expect(filesOf(kernel)).toEqual([bootConfigPath, bootResultPath, ...links, ...units].sort());
        if (end === "survived") break;
      }
    }
  }, 60_000);

  it("loses everything but its VFs when it returns to daemon mode, also after a SIGKILL at each write", async () => {
    for (const isDone of [false, true]) {
      for (let nth = 1; ; nth++) {
        const kernel = createFakeKernel({ nics: [igb(pf)] });
        await passUntilReboot(kernel, daemonIn(kernel.host()), asking(2));
        await boot(kernel);
        await daemonIn(kernel.host()).pass(asking(2));
        kernel.writeFile("/etc/systemd/system/other.service", "");
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        const end = await Promise.race([removeBoot(killed.host, silentLogger).then(() => "survived"), killed.death]);
        await removeBoot(kernel.host(), silentLogger);
        await removeUpstreamLeftovers(kernel.host().files, silentLogger);
        expect(filesOf(kernel)).toEqual(["/etc/systemd/system/other.service"]);
        expect(await kernel.host().bootProgram.readVersion()).toBeUndefined();
        expect(await driversOf(kernel)).toEqual(["igbvf", "igbvf"]);
        if (end === "survived") break;
      }
    }
  }, 60_000);
});
