// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { constants } from "node:os";
import { protocols } from "@switchyard/netlink";
import { createFakeKernel, createNetworkNamespace, missingForNamespaces } from "@switchyard/netlink/testing";
import type { KernelEvent } from "../../ports/kernel.ts";
import { createLinuxKernelEvents } from "./linux-kernel-events.ts";

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("KernelEvents of the real kernel", () => {
  it("reports interfaces from the moment of the call until the signal aborts", async () => {
    await using namespace = await createNetworkNamespace();
    const stop = new AbortController();
    const events = createLinuxKernelEvents({ netns: namespace.path }).watch(stop.signal);
    await namespace.run("ip", "link", "set", "lo", "up");
    const seen: KernelEvent[] = [];
    for await (const event of events) {
      seen.push(event);
      stop.abort();
    }
    expect(seen).toEqual([{ kind: "link", name: "lo" }]);
  });
});

describe("KernelEvents", () => {
  const { kobjectUevent } = protocols;

  function watch() {
    const kernel = createFakeKernel();
    return { kernel, events: createLinuxKernelEvents({ libc: kernel }).watch(new AbortController().signal) };
  }

  it("reports PCI functions, equal waiting events once, and no other devices", async () => {
    const { kernel, events } = watch();
    kernel.emit(kobjectUevent, uevent("add", "SUBSYSTEM=net", "INTERFACE=v0"));
    for (const action of ["add", "bind", "add"]) {
      kernel.emit(kobjectUevent, uevent(action, "SUBSYSTEM=pci", "DRIVER=igbvf", "PCI_SLOT_NAME=0000:01:10.0"));
    }
    expect(await take(events, 2)).toEqual([
      { kind: "pci", action: "bind", pciAddress: "0000:01:10.0" },
      { kind: "pci", action: "add", pciAddress: "0000:01:10.0" },
    ]);
  });

  it("reports RDMA devices, and not their subdevices", async () => {
    const { kernel, events } = watch();
    kernel.emit(kobjectUevent, uevent("add", "SUBSYSTEM=infiniband_verbs", "DEVNAME=infiniband/uverbs0"));
    kernel.emit(kobjectUevent, uevent("add", "SUBSYSTEM=infiniband"));
    expect(await take(events, 1)).toEqual([{ kind: "rdma", action: "add", name: "x" }]);
  });

  it("reports lost events of each socket", async () => {
    for (const protocol of [protocols.route, kobjectUevent]) {
      const { kernel, events } = watch();
      kernel.emit(protocol, -constants.errno.ENOBUFS);
      expect(await take(events, 1)).toEqual([{ kind: "overrun" }]);
    }
  });

  it("closes both sockets when the reader stops", async () => {
    const { kernel, events } = watch();
    expect(kernel.countOpen()).toBe(2);
    kernel.emit(protocols.route, -constants.errno.ENOBUFS);
    await take(events, 1);
    expect(kernel.countOpen()).toBe(0);
  });

  it("rejects with HostError if the kernel ends the events", async () => {
    const { kernel, events } = watch();
    kernel.emit(protocols.route, -constants.errno.ENOMEM);
    await expect(take(events, 1)).rejects.toMatchObject({
      message: "watch on kernel events: ENOMEM",
      cause: { name: "NetlinkError" },
    });
    expect(kernel.countOpen()).toBe(0);
  });

  it("throws HostError and leaves no socket open if a socket cannot be opened", () => {
    const kernel = createFakeKernel();
    const withoutUevents = {
      ...kernel,
      socket: (protocol: number) =>
        protocol === kobjectUevent ? -constants.errno.EPROTONOSUPPORT : kernel.socket(protocol),
    };
    const open = () => createLinuxKernelEvents({ libc: withoutUevents }).watch(new AbortController().signal);
    expect(open).toThrow(expect.objectContaining({ name: "HostError", code: "EPROTONOSUPPORT" }));
    expect(kernel.countOpen()).toBe(0);
  });
});

function uevent(action: string, ...variables: readonly string[]): Buffer {
  const lines = [`${action}@/devices/x`, `ACTION=${action}`, "DEVPATH=/devices/x", ...variables];
  return Buffer.from(lines.map((line) => `${line}\0`).join(""));
}

async function take(events: AsyncIterable<KernelEvent>, count: number): Promise<readonly KernelEvent[]> {
  const taken: KernelEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}
