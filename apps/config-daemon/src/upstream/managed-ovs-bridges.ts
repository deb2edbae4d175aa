// SPDX-License-Identifier: Apache-2.0
/**
 * The list of Open vSwitch bridges in /etc/sriov-operator/managed-ovs-bridges.json, by which the Go operator knows its bridges
 * (sriov-operator.md F.7, F.12). Bridges that the Go operator has listed are adopted: their rows get the owner mark. Bridges of
 * Switchyard are listed for the way back: the Go operator's daemon drains the node and creates again what it does not find in the
 * list. Anything else in the file is left alone.
 */
import { parseLimitedJson, type OvsBridge } from "@switchyard/api";
import { isPfBridgeName, reservedOvsKeys, type Host, type OvsBridgeSettings } from "@switchyard/host";

const path = "/etc/sriov-operator/managed-ovs-bridges.json";

/** Key of the entries that Switchyard has written. The Go operator ignores it, and drops it when it writes the file. */
const markKey = "writtenBy";
const mark = "switchyard";

/**
 * Does nothing if there is no file, or if the daemon does not manage software bridges. Rejects with HostError, also if Open
 * vSwitch does not answer. If it is interrupted, the next call continues.
 */
export async function adoptUpstreamBridges({ files, ovs }: Pick<Host, "files" | "ovs">): Promise<void> {
  const text = await files.readText(path);
  const entries = text === undefined ? undefined : parseManagedBridges(text);
  if (entries === undefined || (await ovs.readState()) === undefined) return;
  for (const bridge of entries.bridges) await ovs.adoptBridge(bridge);
}

/** The bridges of Switchyard on the host, and how the spec wants them. */
export interface ListedBridges {
  readonly existing: readonly OvsBridge[];
  readonly wanted: readonly OvsBridge[];
}

/**
 * Makes the entries of bridges for PFs those of Switchyard's bridges, with the settings of the spec, if they differ. A bridge that
 * the spec does not mention keeps its entry. Call it after adoptUpstreamBridges() and an observation that knows the bridges.
 * Rejects with HostError.
 */
export async function listManagedBridges(
  { files }: Pick<Host, "files">,
  { existing, wanted }: ListedBridges,
): Promise<void> {
  const text = await files.readText(path);
  const entries = text === undefined ? { bridges: [], others: {} } : parseManagedBridges(text);
  if (entries === undefined) return; // somebody else's file
  const listed = parseObject(text ?? "");
  const own = existing
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((bridge) => {
      const inSpec = wanted.find(({ name }) => name === bridge.name);
      const entry = member(listed, bridge.name);
      return [bridge.name, inSpec === undefined && isOwnEntry(entry) ? entry : entryOf(inSpec ?? bridge)] as const;
    });
  const next = { ...entries.others, ...Object.fromEntries(own) };
  if (Object.keys(next).length === 0) {
    if (text !== undefined) await files.remove(path);
  } else if (JSON.stringify(next) !== text) await files.writeText(path, JSON.stringify(next));
}

/** Reports whether an entry of Switchyard is in the file. */
export async function hasListedBridges({ files }: Pick<Host, "files">): Promise<boolean> {
  const entries = parseObject((await files.readText(path)) ?? "");
  return Object.values(entries ?? {}).some(isOwnEntry);
}

/** The fields that the Go operator compares with its spec. */
function entryOf({ name, bridge = {}, uplinks = [] }: OvsBridge): object {
  const ports = uplinks.map(({ error: _error, ...uplink }) => uplink);
  return { name, bridge, uplinks: ports, [markKey]: mark };
}

function isOwnEntry(value: unknown): boolean {
  return member(value, markKey) === mark;
}

export interface ManagedBridges {
  /** Those that Switchyard has not listed itself. */
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
    if (!isPfBridgeName(name)) others.push([name, value]);
    else if (!isOwnEntry(value)) bridges.push(toBridge(name, value));
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
    const value = parseLimitedJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
