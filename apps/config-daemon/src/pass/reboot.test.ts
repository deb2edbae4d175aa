// SPDX-License-Identifier: Apache-2.0
/** Tests kernel arguments and reboots on the fake kernel, on a machine whose IOMMU needs intel_iommu=on. */
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, igb, pci, type FakeKernel, type FakeKernelOptions } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { daemonOn } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const pf = "0000:01:00.0";
const other = "0000:01:00.1";
const rebootFile = "/etc/sriov-operator/reboot.json";
const recordFile = "/etc/sriov-operator/kernel-arguments.json";

function asking(deviceType: "vfio-pci" | "netdevice", annotations: Readonly<Record<string, string>> = {}) {
  const vfGroups = [{ resourceName: "user", vfRange: "0-1", deviceType }];
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1, annotations },
    spec: { interfaces: [{ pciAddress: pf, numVfs: 2, vfGroups }] },
  } as const satisfies SriovNetworkNodeState;
}

const state = asking("vfio-pci");

function machine(options: Partial<FakeKernelOptions> = {}): FakeKernel {
  return createFakeKernel({ nics: [igb(pf)], iommu: "with-argument", ...options });
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

async function driversOf(kernel: FakeKernel): Promise<readonly (string | undefined)[]> {
  return ((await kernel.host().sriov.readPf(pci(pf)))?.sriov?.vfs ?? []).map(({ driver }) => driver);
}

describe("a node whose IOMMU needs a kernel argument", () => {
  it("is drained, gets the argument, reboots once, and is configured", async () => {
    const kernel = machine();
    const first = daemonOn(kernel.host(), { drains: true });
    expect(await first.pass(state)).toBe("waiting");
    expect(first.requests).toEqual(["Reboot_Required"]);
    expect([kernel.nextArguments(), kernel.requestedReboots]).toEqual([["ro", "quiet"], []]);

    const drained = asking("vfio-pci", {
      "sriovnetwork.openshift.io/desired-state": "Reboot_Required",
      "sriovnetwork.openshift.io/current-state": "DrainComplete",
    });
    await passUntilReboot(kernel, daemonOn(kernel.host(), { drains: true }), drained);
    expect(kernel.nextArguments()).toEqual(["ro", "quiet", "intel_iommu=on", "iommu=pt"]);
    expect(await driversOf(kernel)).toEqual([]);
    kernel.reboot();

    const second = daemonOn(kernel.host(), { drains: true });
    expect(await second.pass(drained)).toBe("settled");
    expect([second.error(), await driversOf(kernel)]).toEqual(["", ["vfio-pci", "vfio-pci"]]);
    expect(second.requests).toEqual(["Idle"]);
    expect(kernel.requestedReboots).toHaveLength(1);
    expect(kernel.listFiles()).not.toContain(rebootFile);
  });

  it("reports the reboot and its causes before it reboots", async () => {
    const kernel = machine();
    const daemon = daemonOn(kernel.host());
    await passUntilReboot(kernel, daemon, state);
    expect(daemon.phases).toContainEqual({
      kind: "rebooting",
      causes: ["kernel argument intel_iommu=on", "kernel argument iommu=pt"],
    });
    expect(kernel.requestedReboots).toEqual([
      "Switchyard reboots this node for kernel argument intel_iommu=on, kernel argument iommu=pt",
    ]);
  });

  it("reports an argument that is missing after the reboot, and does not reboot again", async () => {
    const kernel = machine();
    await passUntilReboot(kernel, daemonOn(kernel.host()), state);
    kernel.setNextArgumentsByHand(["ro"]); // another boot entry was chosen
    kernel.reboot();
    for (const _boot of ["first", "second"]) {
      const daemon = daemonOn(kernel.host());
      await daemon.pass(state);
      await daemon.pass(state);
      expect(daemon.error()).toContain("kernel argument intel_iommu=on is not in effect after a reboot");
      expect(kernel.requestedReboots).toHaveLength(1);
      kernel.setNextArgumentsByHand(["ro"]);
      kernel.reboot();
    }
  });

  it("recovers when an administrator sets the argument and reboots", async () => {
    const kernel = machine();
    await passUntilReboot(kernel, daemonOn(kernel.host()), state);
    kernel.setNextArgumentsByHand(["ro"]);
    kernel.reboot();
    await daemonOn(kernel.host()).pass(state);
    kernel.setNextArgumentsByHand(["ro", "intel_iommu=on", "iommu=pt"]);
    kernel.reboot();
    const daemon = daemonOn(kernel.host());
    expect([await daemon.pass(state), daemon.error()]).toEqual(["settled", ""]);
    expect(kernel.listFiles()).not.toContain(rebootFile);
    expect(kernel.requestedReboots).toHaveLength(1);
  });

  it("does not reboot, and is configured except for the VFs without an IOMMU, if the boot loader fails", async () => {
    const kernel = machine();
    const fault = kernel.fault(
      { port: "kernelArguments", method: "setNext" },
      { code: "BOOT_LOADER_FAILED", words: "no space left" },
    );
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(state)).toBe("retry");
    expect(daemon.error()).toContain("BOOT_LOADER_FAILED (no space left)");
    expect(await daemon.pass(state)).toBe("retry");
    expect((await kernel.host().sriov.readPf(pci(pf)))?.sriov?.numVfs).toBe(2);
    expect(kernel.requestedReboots).toEqual([]);
    fault.lift();
    expect(await daemon.pass(state)).toBe("retry"); // the VFs still have no IOMMU
    await passUntilReboot(kernel, daemon, state);
    kernel.reboot();
    expect(await daemonOn(kernel.host()).pass(state)).toBe("settled");
  });

  it("does not reboot if the boot loader reports success without an effect", async () => {
    const kernel = machine();
    const host = kernel.host();
    const kernelArguments = new Proxy(host.kernelArguments, {
      get: (target, name): unknown => (name === "setNext" ? () => Promise.resolve() : Reflect.get(target, name)),
    });
    const daemon = daemonOn({ ...host, kernelArguments });
    expect(await daemon.pass(state)).toBe("retry");
    expect(daemon.error()).toContain('its boot entry "Linux" lacks them');
    expect(kernel.requestedReboots).toEqual([]);
  });

  it("does not reboot if a boot entry of this system lacks the arguments, and names it", async () => {
    const kernel = machine();
    const host = kernel.host();
    const rescue = { title: "Debian GNU/Linux (rescue)", arguments: ["ro", "rescue"] };
    const readNext = async () => [...(await host.kernelArguments.readNext()), rescue];
    const daemon = daemonOn({ ...host, kernelArguments: { ...host.kernelArguments, readNext } });
    expect(await daemon.pass(state)).toBe("retry");
    expect(daemon.error()).toContain('its boot entry "Debian GNU/Linux (rescue)" lacks them');
    expect(kernel.requestedReboots).toEqual([]);
  });

  it("does not reboot if /etc is read-only", async () => {
    const kernel = machine();
    kernel.fault({ port: "files", method: "writeText" }, { code: "EROFS" });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(state)).toBe("retry");
    expect(daemon.error()).toContain(`write on ${recordFile}: EROFS`);
    expect([kernel.nextArguments(), kernel.requestedReboots]).toEqual([["ro", "quiet"], []]);
  });

  it("does not reboot if the reboot cannot be recorded", async () => {
    const kernel = machine();
    kernel.fault({ port: "files", method: "writeText", target: rebootFile }, { code: "ENOSPC" });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(state)).toBe("retry");
    expect([daemon.error(), kernel.requestedReboots]).toEqual([`write on ${rebootFile}: ENOSPC`, []]);
  });

  it("reports that systemd refuses the reboot, and tries again", async () => {
    const kernel = machine();
    const fault = kernel.fault(
      { port: "systemd", method: "reboot" },
      { code: "BlockedByInhibitorLock", words: "dpkg" },
    );
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(state)).toBe("retry");
    expect(daemon.error()).toBe("reboot on the node: BlockedByInhibitorLock (dpkg)");
    fault.lift();
    await passUntilReboot(kernel, daemon, state);
    expect(kernel.requestedReboots).toHaveLength(1);
  });

  it("needs no argument for kernel drivers, and keeps it when no policy needs it any more", async () => {
    const kernel = machine();
    expect(await daemonOn(kernel.host()).pass(asking("netdevice"))).toBe("settled");
    await passUntilReboot(kernel, daemonOn(kernel.host()), state);
    kernel.reboot();
    await daemonOn(kernel.host()).pass(state);
    expect(await daemonOn(kernel.host()).pass(asking("netdevice"))).toBe("settled");
    expect(kernel.nextArguments()).toContain("intel_iommu=on");
    expect(kernel.requestedReboots).toHaveLength(1);
  });

  it("names the argument if the boot loader is not known, and configures the rest", async () => {
    const kernel = machine({ bootLoader: "none" });
    const daemon = daemonOn(kernel.host());
    await daemon.pass(state);
    expect(daemon.error()).toContain("add intel_iommu=on iommu=pt in the configuration of the boot loader");
    expect(kernel.requestedReboots).toEqual([]);
  });
});

describe("a daemon that is killed", () => {
  const points = [1, 2, 3, 4, 5, 6, 7].flatMap((nth) => [
    { nth, isDone: false },
    { nth, isDone: true },
  ]);

  it.each(points)("at write $nth (done: $isDone) leads to one reboot", async ({ nth, isDone }) => {
    const kernel = machine();
    kernel.setNextArgumentsByHand(["ro", "iommu=pt", "mitigations=off"]); // the administrator's choice for the next boot
    await kernel.setNumVfsByHand(pci(other), 1);
    const killed = killedAtWrite(kernel.host(), nth, isDone);
    const passing = daemonOn(killed.host).pass(state);
    const polled = new AbortController();
    const rebooted = (async () => {
      while (kernel.requestedReboots.length === 0 && !polled.signal.aborted) await delay(2);
    })();
    await Promise.race([passing, killed.death, rebooted]);
    polled.abort();
    if (kernel.requestedReboots.length === 0) await passUntilReboot(kernel, daemonOn(kernel.host()), state);
    kernel.reboot();
    const daemon = daemonOn(kernel.host());
    expect([await daemon.pass(state), daemon.error()]).toEqual(["settled", ""]);
    expect(kernel.requestedReboots).toHaveLength(1);
    expect(kernel.nextArguments()).toEqual(["ro", "iommu=pt", "mitigations=off", "intel_iommu=on"]);
    const record = await kernel.host().files.readText(recordFile);
    expect(JSON.parse(record ?? "")).toMatchObject({ added: ["intel_iommu=on"] }); // the other one is not ours
  });
});

describe("VFs that do not fit into the memory of the PCI bridges", () => {
  const memory = (...iovBars: readonly string[]) => [...Array<string>(7).fill("0x0 0x0 0x0"), ...iovBars].join("\n");
  const unassigned = memory("0x0000000000000000 0x000000000001ffff 0x000000000014220c");
  const assigned = memory("0x00000000fe820000 0x00000000fe83ffff 0x000000000014220c", "0x0 0x0 0x0");
  const meaning =
    "the PCI bridges have no memory space or bus numbers left for the VFs, or a limit of the firmware is reached";

  function withoutMemory(files: Readonly<Record<string, string>> = {}) {
    const kernel = machine({ iommu: true });
    for (const [name, text] of Object.entries(files)) kernel.writeFile(`/sys/bus/pci/devices/${name}`, text);
    return { kernel, fault: kernel.fault({ port: "sriov", method: "setNumVfs" }, { code: "ENOMEM" }) };
  }

  it("lead to pci=realloc and one reboot", async () => {
    const { kernel, fault } = withoutMemory();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(state)).toBe("retry");
    expect(daemon.error()).toBe(`set sriov_numvfs 2 on ${pf}: ENOMEM (${meaning})`);
    await passUntilReboot(kernel, daemonOn(kernel.host()), state);
    expect(kernel.nextArguments()).toEqual(["ro", "quiet", "pci=realloc"]);
    kernel.reboot();

    // The argument did not help.
    const second = daemonOn(kernel.host());
    expect(await second.pass(state)).toBe("retry");
    expect(second.error()).toBe(`set sriov_numvfs 2 on ${pf}: ENOMEM (${meaning})`);
    fault.lift();
    expect(await second.pass(state)).toBe("settled");
    expect(kernel.requestedReboots).toHaveLength(1);
  });

  it("say after the reboot that the argument is in effect and did not help", async () => {
    const { kernel } = withoutMemory({ [`${pf}/resource`]: unassigned });
    await daemonOn(kernel.host()).pass(state);
    await passUntilReboot(kernel, daemonOn(kernel.host()), state);
    kernel.reboot();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(state);
    expect(daemon.error()).toContain(
      "ENOMEM (the PCI bridges have no memory space for the VFs; pci=realloc is in effect and did not help",
    );
  });

  it.each([
    {
      cause: "the bridge has too few bus numbers",
      files: { "0000:00:01.0/subordinate_bus_number": "1\n", [`${pf}/sriov_offset`]: "384\n" },
      words: "VF 1 would be on PCI bus 02, but the bridge of the PF has bus numbers up to 01 only",
    },
    {
      cause: "the driver has reached a limit",
      files: { "0000:00:01.0/subordinate_bus_number": "2\n", [`${pf}/sriov_offset`]: "128\n" },
      words: "the driver or the firmware of the card has reached a limit",
    },
  ])("do not reboot the node if $cause", async ({ files, words }) => {
    const stride = { [`${pf}/resource`]: assigned, [`${pf}/sriov_stride`]: "2\n" };
    const { kernel } = withoutMemory({ ...stride, ...files });
    kernel.linkFile(`/sys/bus/pci/devices/${pf}`, `../../../devices/pci0000:00/0000:00:01.0/${pf}`);
    const daemon = daemonOn(kernel.host());
    for (let nth = 1; nth <= 3; nth++) await daemon.pass(state);
    expect(daemon.error()).toContain(words);
    expect([kernel.nextArguments(), kernel.requestedReboots]).toEqual([["ro", "quiet"], []]);
  });
});
