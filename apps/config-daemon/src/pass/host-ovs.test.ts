// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { blueField, createFakeKernel, systemKernelClock, type FakeKernel } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { runCleanup } from "../cleanup/run-cleanup.ts";
import { enabledUnits, hostOvsFiles, hostOvsRecord } from "../files/host-ovs-files.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";
import { kubeletWith } from "../testing/kubelet-with.ts";

const pf = "0000:3b:00.0";
const mine = "/etc/systemd/system/openvswitch.service.d/50-mine.conf";

function state(openVSwitchDisabled?: boolean): SriovNetworkNodeState {
  const system = openVSwitchDisabled === undefined ? {} : { system: { openVSwitchDisabled } };
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces: [{ pciAddress: pf, numVfs: 2 }], ...system },
  };
}

function newKernel(): FakeKernel {
  const kernel = createFakeKernel({ nics: [blueField(pf)] });
  kernel.writeFile(mine, "[Service]\n");
  return kernel;
}

/** Runs passes until the daemon requests a reboot or nothing is left to do. */
async function run(kernel: FakeKernel, wanted?: boolean, host = kernel.host()) {
  const daemon = daemonOn(host);
  const before = kernel.requestedReboots.length;
  const stop = new AbortController();
  const pass = daemon.pass(state(wanted), stop.signal).catch(() => undefined);
  const poll = setInterval(() => {
    if (kernel.requestedReboots.length > before) stop.abort();
  }, 5).unref(); // a daemon that is killed never ends
  await pass;
  clearInterval(poll);
  return daemon;
}

const paths = hostOvsFiles().map(({ path }) => path);

function present(kernel: FakeKernel): readonly string[] {
  return kernel.listFiles().filter((path) => paths.includes(path) || path === hostOvsRecord);
}

describe("Open vSwitch of a host", () => {
  it("is disabled by files and one reboot, and enabled again by another one", async () => {
    const kernel = newKernel();
    const first = await run(kernel, true);
    expect(first.system()?.openVSwitchDisabled).toBeUndefined();
    expect(kernel.requestedReboots).toEqual(["Switchyard reboots this node for Open vSwitch disabled"]);
    expect(present(kernel)).toHaveLength(paths.length + 1);

    kernel.reboot();
    const second = await run(kernel, true);
    expect(second.error()).toBe("");
    expect(second.system()).toMatchObject({
      openVSwitchDisabled: true,
      openVSwitchFiles: { own: paths.length + 1, complete: true },
    });
    const { systemd } = kernel.host();
    for (const unit of enabledUnits()) {
      expect(await systemd.readUnit(unit)).toMatchObject({ activeState: "active", unitFileState: "enabled" });
    }

    await run(kernel);
    expect(kernel.requestedReboots).toHaveLength(2);
    expect(present(kernel)).toEqual([]);
    kernel.reboot();
    const last = await run(kernel);
    expect([last.error(), last.system()?.openVSwitchDisabled, last.system()?.openVSwitchFiles]).toEqual([
      "",
      undefined,
      undefined,
    ]);
    expect(kernel.requestedReboots).toHaveLength(2);
    expect(kernel.listFiles().filter((path) => path.startsWith("/etc/systemd"))).toEqual([mine]);
  });

  it("has a header in each file, after the first line of a script", () => {
    for (const { text, executable } of hostOvsFiles()) {
      const [first = "", second = ""] = text.split("\n");
      expect(executable ? [first.startsWith("#!"), second] : [true, first]).toEqual([
        true,
        expect.stringMatching(/^# Written by the config daemon of Switchyard/),
      ]);
    }
  });

  it("is repaired without a reboot if somebody changes or removes a file", async () => {
    const kernel = newKernel();
    await run(kernel, true);
    kernel.reboot();
    const [file] = hostOvsFiles();
    if (file === undefined) throw new Error("no files");
    for (const text of [`${file.text}# more\n`, undefined]) {
      if (text === undefined) await kernel.host().files.remove(file.path);
      else kernel.writeFile(file.path, text);
      expect((await run(kernel, true)).error()).toBe("");
      expect(await kernel.host().files.readText(file.path)).toBe(file.text);
    }
    expect(kernel.requestedReboots).toHaveLength(1);
  });

  it("is not disabled by replacing somebody else's file; VFs are configured", async () => {
    const kernel = newKernel();
    const [path = ""] = paths;
    kernel.writeFile(path, "# mine\n");
    const daemon = await run(kernel, true);
    expect(daemon.error()).toBe(
      `spec.system.openVSwitchDisabled: true requested, but ${path} has content that Switchyard did not write; ` +
        "remove or rename it",
    );
    expect([kernel.requestedReboots, present(kernel)]).toEqual([[], [path]]);
    expect(daemon.shown().find(({ pciAddress }) => pciAddress === pf)?.numVfs).toBe(2);
  });

  it("is left alone if a MachineConfig has the same files", async () => {
    const kernel = newKernel();
    for (const { path, plainText } of hostOvsFiles()) kernel.writeFile(path, plainText);
    const daemon = await run(kernel);
    expect([daemon.error(), daemon.system()?.openVSwitchFiles]).toEqual(["", undefined]);
    expect(present(kernel)).toHaveLength(paths.length);
  });

  it("is left alone on a node that does not have the daemon's files", async () => {
    const kernel = newKernel();
    await run(kernel);
    expect(kernel.writes.filter(({ port }) => port === "systemd")).toEqual([]);
  });

  it.each(Array.from({ length: paths.length + 10 }, (_, index) => index + 1))(
    "is disabled and enabled again by a daemon that is killed at write %i",
    async (nth) => {
      for (const isDone of [true, false]) {
        const kernel = newKernel();
        await runKilled(kernel, nth, isDone, true);
        await run(kernel, true);
        kernel.reboot();
        expect((await run(kernel, true)).system()?.openVSwitchDisabled).toBe(true);
        await runKilled(kernel, nth, isDone, undefined);
        await run(kernel);
        kernel.reboot();
        expect((await run(kernel)).system()?.openVSwitchDisabled).toBeUndefined();
        expect(present(kernel)).toEqual([]);
      }
    },
  );

  it("is enabled again by config-daemon cleanup, with the next reboot", async () => {
    const kernel = newKernel();
    await run(kernel, true);
    kernel.reboot();
    const lines: string[] = [];
    const code = await runCleanup({
      host: kernel.host(),
      keepsVfs: false,
      isDryRun: false,
      maxHanging: 4,
      readKubelet: kubeletWith().read,
      signal: new AbortController().signal,
      print: (line) => lines.push(line),
      fail: (line) => lines.push(line),
      timing: {
        stepDeadlineMs: 60_000,
        linkTimeoutMs: 200,
        udevTimeoutMs: 1_000,
        nowMs: systemKernelClock.nowMs,
        sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined),
      },
    });
    expect([code, present(kernel)]).toEqual([0, []]);
    expect(lines).toContain("remove the files that disable Open vSwitch on the host");
    expect(kernel.requestedReboots).toHaveLength(1);
  });
});

/** Runs a daemon that dies at its write `nth`. */
async function runKilled(kernel: FakeKernel, nth: number, isDone: boolean, wanted: boolean | undefined): Promise<void> {
  const { host, death } = killedAtWrite(kernel.host(), nth, isDone);
  await Promise.race([run(kernel, wanted, host), death]);
}
