// SPDX-License-Identifier: Apache-2.0
/**
 * What the cases of the host contract run on, and what they share. A world is a fake kernel or a real one; a case may
 * not tell them apart.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { parseMacAddress, type MacAddress, type PciAddress } from "@switchyard/api";
import { HostError } from "../../calls/host-error.ts";
import type { Host } from "../../ports/host.ts";
import type { Link } from "../../ports/links.ts";
import type { RdmaMode } from "../../ports/rdma.ts";
import type { PfFacts, VfFacts } from "../../ports/sriov-sysfs.ts";

/** A machine with one dual-port igb, and hands that do what its administrator would do at a shell. */
export interface ContractWorld {
  readonly host: Host;
  /** Both ports, driven by igb, without VFs; their interfaces are up. */
  readonly pfs: readonly [PciAddress, PciAddress];
  /** Whether the driver is the VM lab's igbsw: igb, also by its name, but with an eswitch in legacy mode. */
  readonly hasEswitch: boolean;
  /** Where there is no function. */
  readonly absent: PciAddress;
  readonly renameLink: (name: string, newName: string) => Promise<void>;
  readonly addAltName: (name: string, altName: string) => Promise<void>;
  /** Puts the interface of a VF into another network namespace. */
  readonly moveToPod: (vf: PciAddress, name: string) => Promise<void>;
  /** Brings back all that moveToPod took. */
  readonly returnFromPods: () => Promise<void>;
  /** Makes an RDMA device in software, on the interface `link`. */
  readonly addRdmaDevice: (name: string, link: string) => Promise<void>;
  /** Takes these devices away, and ib_core with them, where they are there. */
  readonly unloadRdma: () => Promise<void>;
  readonly setRdmaMode: (mode: RdmaMode) => Promise<void>;
  /** Makes directories on the way. */
  readonly writeFile: (path: string, text: string) => Promise<void>;
  readonly linkFile: (path: string, target: string) => Promise<void>;
}

/** One sentence that holds on every host. */
export interface ContractCase {
  readonly name: string;
  run(world: ContractWorld): Promise<void>;
}

const patienceMs = 30_000;

export function mac(text: string): MacAddress {
  const parsed = parseMacAddress(text);
  assert(parsed.ok);
  return parsed.value;
}

/** Runs the case and puts everything back, whatever became of it. */
export async function runContractCase(contractCase: ContractCase, world: ContractWorld): Promise<void> {
  try {
    await contractCase.run(world);
  } finally {
    await restore(world);
  }
}

async function restore({ host, pfs, returnFromPods }: ContractWorld): Promise<void> {
  await returnFromPods();
  for (const pf of pfs) {
    if ((await host.sriov.readPf(pf))?.driver === undefined) await host.sriov.probeDrivers(pf);
    await host.sriov.setNumVfs(pf, 0);
    await settle(host);
    const { name, mtu, adminUp } = await linkOf(host, pf);
    if (mtu !== 1_500) await host.links.setMtu(name, 1_500);
    if (!adminUp) await host.links.setAdminUp(name, true);
  }
}

export function settle(host: Host): Promise<void> {
  return host.udev.settle({ timeoutMs: patienceMs, signal: new AbortController().signal });
}

/** The first value that passes; rejects with the last objection when none does in time. */
export async function eventually<Value>(read: () => Promise<Value>, check: (value: Value) => void): Promise<Value> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const value = await read();
    try {
      check(value);
      return value;
    } catch (objection) {
      if (performance.now() > deadlineMs) throw objection;
    }
    await delay(10);
  }
}

export async function readPf(host: Host, pf: PciAddress): Promise<PfFacts> {
  const facts = await host.sriov.readPf(pf);
  assert(facts, `${pf} is a PF`);
  return facts;
}

/** What there is of a PF's VFs now. */
export async function readVfs(host: Host, pf: PciAddress): Promise<readonly VfFacts[]> {
  return (await readPf(host, pf)).sriov?.vfs ?? [];
}

/** Makes VFs, and waits until each has its driver, and its interface a name. */
export async function makeVfs(host: Host, pf: PciAddress, count: number): Promise<readonly VfFacts[]> {
  await host.sriov.setNumVfs(pf, count);
  await eventually(
    () => readVfs(host, pf),
    (vfs) => {
      assert.equal(vfs.length, count);
      for (const vf of vfs) assert.deepEqual([vf.driver, vf.netdevs.length], ["igbvf", 1]);
    },
  );
  await settle(host);
  return readVfs(host, pf);
}

/** One VF, made and settled. */
export async function makeVf(host: Host, pf: PciAddress): Promise<VfFacts> {
  const [vf] = await makeVfs(host, pf, 1);
  assert(vf);
  return vf;
}

/** The one interface of a function, as soon as it is there. */
export async function linkOf(host: Host, device: PciAddress): Promise<Link> {
  const [link] = await eventually(
    () => linksOf(host, device),
    (links) => {
      assert.equal(links.length, 1, `${device} has one interface`);
    },
  );
  assert(link);
  return link;
}

/** The interfaces of a function. */
export async function linksOf(host: Host, device: PciAddress): Promise<readonly Link[]> {
  return (await host.links.listLinks()).filter(({ parent }) => parent?.bus === "pci" && parent.name === device);
}

/** Expects a HostError with this errno, and these words where the kernel has any. */
export async function assertRefused(act: Promise<unknown>, code: string, words?: string): Promise<void> {
  await assert.rejects(act, (error) => {
    assert(error instanceof HostError, `no HostError: ${String(error)}`);
    assert.deepEqual([error.code, error.words], [code, words], error.message);
    return true;
  });
}
