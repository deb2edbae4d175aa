// SPDX-License-Identifier: Apache-2.0
/** Contract cases of events: the kernel reports each change with its PCI function. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { Host } from "../../ports/host.ts";
import type { KernelEvent } from "../../ports/kernel.ts";
import { eventually, linkOf, makeVf, type ContractCase } from "./world.ts";

/** Collects events while `act` runs and until all of `expected` have arrived. */
async function assertEvents(host: Host, act: () => Promise<unknown>, expected: readonly KernelEvent[]): Promise<void> {
  const stop = new AbortController();
  const seen: KernelEvent[] = [];
  const events = host.events.watch(stop.signal);
  const listening = (async () => {
    for await (const event of events) seen.push(event);
  })();
  try {
    await act();
    await eventually(
      () => Promise.resolve(seen),
      () => {
        for (const event of expected)
          assert(
            seen.some((other) => isDeepStrictEqual(event, other)),
            `${JSON.stringify(event)} in ${JSON.stringify(seen)}`,
          );
      },
    );
  } finally {
    stop.abort();
  }
  await listening; // the watch ends without an error
}

export const eventCases: readonly ContractCase[] = [
  {
    name: "reports added and removed VFs, their drivers and their interfaces",
    async run({ host, pfs: [pf] }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const { name } = await linkOf(host, vf);
      const link: KernelEvent = { kind: "link", name, parent: { bus: "pci", name: vf } };
      const pci = (action: string): KernelEvent => ({ kind: "pci", action, pciAddress: vf });
      await assertEvents(host, () => host.sriov.setNumVfs(pf, 0), [link, pci("unbind"), pci("remove")]);
      await assertEvents(host, () => makeVf(host, pf), [
        pci("add"),
        pci("bind"),
        link,
        { kind: "pci", action: "change", pciAddress: pf },
      ]);
    },
  },
  {
    name: "reports a new name, MTU and state of an interface",
    async run({ host, pfs: [pf], renameLink }) {
      const { name } = await linkOf(host, pf);
      const event = (of: string): KernelEvent => ({ kind: "link", name: of, parent: { bus: "pci", name: pf } });
      await assertEvents(host, () => renameLink(name, "uplink0"), [event("uplink0")]);
      await assertEvents(host, () => renameLink("uplink0", name), [event(name)]);
      await assertEvents(host, () => host.links.setMtu(name, 1_400), [event(name)]);
      await assertEvents(host, () => host.links.setAdminUp(name, false), [event(name)]);
    },
  },
  {
    name: "reports bound and unbound drivers",
    async run({ host, pfs: [pf] }) {
      const { pciAddress } = await makeVf(host, pf);
      const pci = (action: string): KernelEvent => ({ kind: "pci", action, pciAddress });
      await assertEvents(host, () => host.sriov.unbindDriver(pciAddress), [pci("unbind")]);
      await assertEvents(host, () => host.sriov.probeDrivers(pciAddress), [pci("bind")]);
    },
  },
  {
    name: "reports RDMA devices, also the first one, which loads the RDMA subsystem",
    async run({ host, pfs: [pf], addRdmaDevice, unloadRdma }) {
      await unloadRdma();
      const { name: link } = await linkOf(host, pf);
      const event = (action: string): KernelEvent => ({ kind: "rdma", action, name: "rxe0" });
      await assertEvents(host, () => addRdmaDevice("rxe0", link), [event("add")]);
      assert.equal(await host.rdma.readMode(), "shared");
      await assertEvents(host, unloadRdma, [event("remove")]);
    },
  },
  {
    name: "reports an interface that is moved to a pod",
    async run({ host, pfs: [pf], moveToPod, returnFromPods }) {
      const { pciAddress: vf } = await makeVf(host, pf);
      const { name } = await linkOf(host, vf);
      const link: KernelEvent = { kind: "link", name, parent: { bus: "pci", name: vf } };
      await assertEvents(host, () => moveToPod(vf, name), [link]);
      await assertEvents(host, () => returnFromPods(), [link]);
    },
  },
];
