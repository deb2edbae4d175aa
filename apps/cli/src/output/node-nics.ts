// SPDX-License-Identifier: Apache-2.0
/**
 * nodeNics lists the NICs that nodes report in their AfxdpNetworkNodeStates, with what their drivers offer to AF_XDP.
 */
import { defined, type AfxdpNetworkNodeState } from "@switchyard/api";
import { afxdpDevices } from "@switchyard/policy";
import { printable, table } from "../text.ts";

/** A NIC of a node. A field is absent if it is not known. */
export interface NodeNic {
  readonly node: string;
  readonly name?: string;
  readonly pciAddress?: string;
  readonly vendor?: string;
  readonly deviceID?: string;
  readonly driver?: string;
  /** Whether the driver runs XDP programs itself. */
  readonly nativeXdp?: boolean;
  /** Whether the driver supports AF_XDP sockets without copying packets. */
  readonly zeroCopy?: boolean;
  readonly queues?: number;
  readonly maxQueues?: number;
  readonly maxSfs?: number;
  /** Why it cannot be an AF_XDP device. */
  readonly usedBy?: readonly string[];
}

/** Returns the NICs by node, in the order of the nodes' names. */
export function nodeNics(states: ReadonlyMap<string, AfxdpNetworkNodeState>): readonly NodeNic[] {
  const nodes = [...states].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return nodes.flatMap(([node, { status }]) =>
    afxdpDevices(status).map(({ reported }) => {
      const { name, pciAddress, vendor, deviceID, driver, xdp, queues, maxQueues, maxSfs, usedBy } = reported;
      return {
        node,
        ...defined({ name, pciAddress, vendor, deviceID, driver }),
        ...defined({ nativeXdp: xdp?.native, zeroCopy: xdp?.zeroCopy, queues, maxQueues, maxSfs, usedBy }),
      };
    }),
  );
}

const heads = ["NODE", "NIC", "ADDRESS", "DRIVER", "NATIVE XDP", "ZERO COPY", "QUEUES", "SFS", "USED BY"];

/** Without NICs, the text says so. */
export function nodeNicsText(nics: readonly NodeNic[]): string {
  if (nics.length === 0) return "No AfxdpNetworkNodeState with NICs found.\n";
  const rows = nics.map(({ node, name, pciAddress, driver, nativeXdp, zeroCopy, maxQueues, maxSfs, usedBy = [] }) => [
    ...[node, name, pciAddress, driver, yesOrNo(nativeXdp), yesOrNo(zeroCopy), maxQueues, maxSfs],
    usedBy.length === 0 ? undefined : usedBy.join(", "),
  ]);
  return table([heads, ...rows.map((row) => row.map((cell) => printable(String(cell ?? "-"))))]);
}

function yesOrNo(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : value ? "yes" : "no";
}
