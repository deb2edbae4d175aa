// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectFakeHost } from "./connect-fake-host.ts";
import { createFakeKernel, type FakeKernel } from "./fake-kernel.ts";
import { igb, pci } from "./nic-models.ts";
import { serveFakeKernel } from "./serve-fake-kernel.ts";

const pf = pci("0000:01:00.0");
let directory: string;
let socketPath: string;
let kernel: FakeKernel;
let server: AsyncDisposable;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "fake-kernel-"));
  socketPath = join(directory, "kernel.sock");
  kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
  server = await serveFakeKernel(kernel, socketPath);
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

describe("connectFakeHost", () => {
  it("transfers values, including undefined and maps", async () => {
    using host = connectFakeHost(socketPath);
    expect(await host.sriov.listPfs()).toEqual(await kernel.host().sriov.listPfs());
    await host.sriov.setNumVfs(pf, 1);
    await host.sriov.setDriverOverride(pci("0000:01:10.0"), undefined);
    expect(await host.devlink.readEswitchMode(pf)).toBeUndefined();
    const record = { spec: { pciAddress: pf, numVfs: 1 }, initial: { mtu: 1500 } };
    await host.records.save(pf, record);
    expect(await host.records.list()).toEqual(new Map([[pf, record]]));
  });

  it("rejects with the HostError of the kernel", async () => {
    using host = connectFakeHost(socketPath);
    await expect(host.links.setMtu("enp1s0f0", 9300)).rejects.toMatchObject({
      name: "HostError",
      code: "EINVAL",
      words: "mtu greater than device maximum",
      operation: { action: "set mtu 9300", target: "enp1s0f0" },
      message: "set mtu 9300 on enp1s0f0: EINVAL (mtu greater than device maximum)",
    });
  });

  it("streams events until the signal aborts", async () => {
    using host = connectFakeHost(socketPath);
    const stop = new AbortController();
    const names: string[] = [];
    const events = host.events.watch(stop.signal);
    await host.links.listLinks(); // calls arrive in order, so the watch has started
    kernel.renameLink("enp1s0f1", "uplink");
    for await (const event of events) {
      if (event.kind === "link") names.push(event.name);
      stop.abort();
    }
    expect(names).toEqual(["uplink"]);
  });

  it("rejects a call at once when its signal aborts", async () => {
    using host = connectFakeHost(socketPath);
    kernel.fault({ port: "udev", method: "settle" }, { delayMs: 60_000 });
    const stop = new AbortController();
    const settled = host.udev.settle({ timeoutMs: 60_000, signal: stop.signal });
    stop.abort(new Error("shutting down"));
    await expect(settled).rejects.toThrow("shutting down");
  });

  it("fails calls and ends watches when the process of the kernel ends", async () => {
    using host = connectFakeHost(socketPath);
    await host.links.listLinks();
    const events = host.events.watch(new AbortController().signal);
    await server[Symbol.asyncDispose]();
    for await (const event of events) expect(event).toBeUndefined();
    await expect(host.links.listLinks()).rejects.toThrow();
    server = await serveFakeKernel(kernel, socketPath);
  });
});

describe("serveFakeKernel", () => {
  it("finishes the calls of a killed daemon", async () => {
    let killed: Promise<unknown> = Promise.resolve();
    const daemon = spawn(process.execPath, ["--input-type=module", "--eval", daemonThatSetsNumVfs()], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    await new Promise<void>((struck) => {
      kernel.fault(
        { port: "sriov", method: "setNumVfs" },
        {
          act: () => {
            killed = once(daemon, "exit");
            daemon.kill("SIGKILL");
            struck();
          },
        },
      );
    });
    expect(await killed).toEqual([null, "SIGKILL"]);
    expect((await kernel.host().sriov.readPf(pf))?.sriov?.numVfs).toBe(4);
  });
});

/** Returns a program that imports the TypeScript sources. */
function daemonThatSetsNumVfs(): string {
  const module = join(__dirname, "connect-fake-host.ts");
  return `
    import { connectFakeHost } from ${JSON.stringify(module)};
    const host = connectFakeHost(${JSON.stringify(socketPath)});
    await host.sriov.setNumVfs("${pf}", 4);
  `;
}
