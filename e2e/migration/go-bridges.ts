// SPDX-License-Identifier: Apache-2.0
/**
 * Plays the part of upstream's config daemon that manages bridges of Open vSwitch, as the real one does (sriov-operator.md F.12). It
 * knows only the bridges in its list, drains the node if they differ from the spec, and creates again what is not in the list, with
 * the loss of all other ports.
 */
import type { OvsBridge } from "@switchyard/api";
import type { FakeKernel } from "@switchyard/host/testing";
import { isRecord } from "@switchyard/kube";
import { isDeepStrictEqual } from "node:util";

const path = "/etc/sriov-operator/managed-ovs-bridges.json";

/** The bridges of the list that exist, in the form of the spec; {} if there are none. */
export async function managedBridges(kernel: FakeKernel): Promise<{ readonly ovs?: readonly unknown[] }> {
  const existing = kernel.ovs.listBridges();
  const listed = Object.entries(await readList(kernel)).filter(([name]) => name in existing);
  if (listed.length === 0) return {};
  return { ovs: listed.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => known(entry)) };
}

/** Reports whether the managed bridges are those of spec.bridges. In Go, a field that is absent equals an empty one. */
export async function hasBridges(kernel: FakeKernel, spec: unknown): Promise<boolean> {
  return isDeepStrictEqual(withoutEmpty(await managedBridges(kernel)), withoutEmpty(spec));
}

/** Makes the bridges those of spec.bridges. */
export async function configureBridges(kernel: FakeKernel, spec: unknown): Promise<void> {
  const wanted = isRecord(spec) && Array.isArray(spec["ovs"]) ? spec["ovs"].filter(isBridge) : [];
  const list = new Map(Object.entries(await readList(kernel)));
  for (const name of [...list.keys()].filter((listed) => wanted.every((bridge) => bridge.name !== listed))) {
    kernel.ovs.removeBridge(name);
    list.delete(name);
  }
  for (const bridge of wanted) {
    const { name, uplinks = [] } = bridge;
    const isThere = name in kernel.ovs.listBridges();
    if (isThere && isDeepStrictEqual(withoutEmpty(known(list.get(name))), withoutEmpty(known(bridge)))) continue;
    if (isThere) kernel.ovs.removeBridge(name);
    kernel.ovs.addBridge(name);
    for (const uplink of uplinks) kernel.ovs.addPort(name, uplink.name ?? "");
    list.set(name, known(bridge));
  }
  kernel.writeFile(path, JSON.stringify(Object.fromEntries(list)));
}

async function readList(kernel: FakeKernel): Promise<Readonly<Record<string, unknown>>> {
  const list: unknown = JSON.parse((await kernel.host().files.readText(path)) ?? "{}");
  return isRecord(list) ? list : {};
}

/** What upstream's type has of an entry. */
function known(entry: unknown): unknown {
  if (!isRecord(entry)) return undefined;
  const { name, bridge, uplinks } = entry;
  return { name, bridge, uplinks };
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmpty);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  const kept = members.filter(([, member]) => member !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function isBridge(value: unknown): value is OvsBridge {
  return isRecord(value) && typeof value["name"] === "string";
}
