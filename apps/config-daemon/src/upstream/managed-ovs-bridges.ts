// SPDX-License-Identifier: Apache-2.0
/**
 * Adopts the Open vSwitch bridges of the Go operator, which lists them in /etc/sriov-operator/managed-ovs-bridges.json
 * (sriov-operator.md F.7, F.12). Their rows get the owner mark, and the file is removed. Anything else in the file is left
 * alone.
 */
import { isPfBridgeName, reservedOvsKeys, type Host, type OvsBridgeSettings } from "@switchyard/host";

const path = "/etc/sriov-operator/managed-ovs-bridges.json";

/**
 * Does nothing if there is no file, or if the daemon does not manage software bridges. Rejects with HostError, also if Open
 * vSwitch does not answer. If it is interrupted, the next call continues.
 */
export async function adoptUpstreamBridges({ files, ovs }: Pick<Host, "files" | "ovs">): Promise<void> {
  const text = await files.readText(path);
  const entries = text === undefined ? undefined : parseManagedBridges(text);
  if (entries === undefined || (await ovs.readState()) === undefined) return;
  for (const bridge of entries.bridges) await ovs.adoptBridge(bridge);
  const others = Object.keys(entries.others).length;
  if (others === 0) await files.remove(path);
  else if (entries.bridges.length > 0) await files.writeText(path, JSON.stringify(entries.others));
}

export interface ManagedBridges {
  readonly bridges: readonly OvsBridgeSettings[];
  /** Entries that the Go operator did not write: their key is not the name of a bridge for a PF. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** Returns undefined if the text is not a JSON object. Accepts any other content. */
export function parseManagedBridges(text: string): ManagedBridges | undefined {
  const entries = parseObject(text);
  if (entries === undefined) return undefined;
  const bridges: OvsBridgeSettings[] = [];
  const others: [string, unknown][] = [];
  for (const [name, value] of Object.entries(entries)) {
    if (isPfBridgeName(name)) bridges.push(toBridge(name, value));
    else others.push([name, value]);
  }
  return { bridges, others: Object.fromEntries(others) };
}

/** The PF follows from the name of the bridge. Only the keys of maps matter: the database has the values. */
function toBridge(name: string, value: unknown): OvsBridgeSettings {
  const uplinks = member(value, "uplinks");
  const uplink: unknown = Array.isArray(uplinks) ? uplinks[0] : undefined;
  const uplinkName = member(uplink, "name");
  const settings = member(value, "bridge");
  const port = member(uplink, "interface");
  return {
    name,
    settings: {
      externalIDs: texts(member(settings, "externalIDs")),
      otherConfig: texts(member(settings, "otherConfig")),
    },
    uplink: {
      name: typeof uplinkName === "string" ? uplinkName : "",
      pciAddress: name.slice("br-".length).replaceAll("_", ":"),
      settings: {
        options: texts(member(port, "options")),
        externalIDs: texts(member(port, "externalIDs")),
        otherConfig: texts(member(port, "otherConfig")),
      },
    },
  };
}

function texts(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null) return {};
  const entries = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && !entry[0].startsWith(reservedOvsKeys),
  );
  return Object.fromEntries(entries);
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
