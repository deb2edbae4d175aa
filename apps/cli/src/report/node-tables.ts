// SPDX-License-Identifier: Apache-2.0
/**
 * nodeTables describes what a node has beside PFs and VFs: AF_XDP devices of pools, the pools, and software bridges.
 * Usage: `nodeTables(snapshot.cluster.states.get(name), snapshot.cluster.afxdp.states.get(name))`.
 */
import type {
  AfxdpInterfaceSpec,
  AfxdpInterfaceStatus,
  AfxdpNetworkNodeState,
  AfxdpPoolStatus,
  AfxdpSubfunctionStatus,
  AfxdpXdpStatus,
  Bridges,
  SriovNetworkNodeState,
} from "@switchyard/api";
import { pageText } from "../text.ts";
import type { TableView } from "./report.ts";

/** Tables without rows are left out. */
export function nodeTables(
  sriov: SriovNetworkNodeState | undefined,
  afxdp: AfxdpNetworkNodeState | undefined,
): readonly TableView[] {
  const tables = [
    devices(afxdp?.status?.interfaces ?? [], afxdp?.spec?.interfaces ?? []),
    pools(afxdp?.status?.pools ?? []),
    bridges(sriov?.status?.bridges ?? {}),
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

type Cell = string | number | undefined;

function table(title: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): TableView {
  return { title, heads, rows: rows.map((cells) => cells.map((cell) => pageText(String(cell ?? "-") || "-"))) };
}

/** Devices that Switchyard has configured, and their subfunctions. */
function devices(interfaces: readonly AfxdpInterfaceStatus[], wanted: readonly AfxdpInterfaceSpec[]): TableView {
  const heads = ["Device", "Driver", "Pool", "State", "Queues", "MTU", "XDP"];
  const used = interfaces.filter(({ owned, externallyManaged }) => owned === true || externallyManaged === true);
  const rows = used.flatMap((device) => {
    const { pciAddress, name, driver, queues, mtu, linkAdminState: link, xdp, subfunctions = [] } = device;
    const own = name ?? pciAddress;
    const state = link === undefined ? undefined : `link ${link}`;
    const isWanted = (spec: AfxdpInterfaceSpec) =>
      pciAddress === undefined ? spec.name === name : spec.pciAddress === pciAddress;
    const pool = wanted.find((spec) => spec.mode === "primary" && isWanted(spec))?.poolName;
    return [
      [own, driver, pool, state, queues, mtu, xdpText(xdp)],
      ...subfunctions.map((one) => subfunctionRow(own ?? "", one)),
    ];
  });
  return table("AF_XDP devices", heads, rows);
}

function subfunctionRow(device: string, one: AfxdpSubfunctionStatus): readonly Cell[] {
  const { sfNumber, name, driver, poolName, state, queues, mtu, xdp } = one;
  const label = `${device}, subfunction ${sfNumber}${name === undefined ? "" : ` (${name})`}`;
  return [label, driver, poolName, state, queues, mtu, xdpText(xdp)];
}

function xdpText(xdp: AfxdpXdpStatus | undefined): string | undefined {
  if (xdp === undefined) return undefined;
  const { native, zeroCopy, program } = xdp;
  const words = [
    native === undefined ? undefined : native ? "native" : "generic",
    zeroCopy === true ? "without copying" : undefined,
    program === undefined ? undefined : `program ${program.name ?? program.id}`,
  ];
  return words.filter((word) => word !== undefined).join(", ");
}

function pools(all: readonly AfxdpPoolStatus[]): TableView {
  const rows = all.map(({ name, announced, allocatable, error }) => [name, announced, allocatable, error]);
  return table("AF_XDP pools", ["Pool", "Announced", "Healthy", "Problem"], rows);
}

function bridges({ ovs = [], linux = [] }: Bridges): TableView {
  const rows = [
    ...ovs.map(({ name, uplinks = [], stalePorts = [] }) => {
      const errors = uplinks.flatMap(({ error }) => error ?? []);
      return [name, "Open vSwitch", ports(uplinks), [...errors, ...stalePorts.map(stale)].join("; ")];
    }),
    ...linux.map(({ name, uplinks }) => [name, "Linux", ports(uplinks), undefined]),
  ];
  return table("Software bridges", ["Bridge", "Kind", "Uplinks", "Problem"], rows);
}

function stale(port: string): string {
  return `port ${port} has no network interface`;
}

function ports(uplinks: readonly { readonly pciAddress: string; readonly name?: string }[] = []): string {
  return uplinks.map(({ name, pciAddress }) => (name ? `${name} (${pciAddress})` : pciAddress)).join(", ");
}
