// SPDX-License-Identifier: Apache-2.0
/**
 * Sentences about what a nicSelector selects: more than its author may want, entries that select nothing, and the NIC that
 * comes nearest to a selector that matches none. The webhook, the command line and the conditions of both kinds of
 * policies use them, so all three give the same answer.
 */
import { nearestName } from "./nearest-name.ts";
import { isNameOf, sameNetFilter } from "./nic-selector.ts";
import { pfNameOf } from "./pf-name.ts";

/** The fields of a nicSelector of either kind of policy. */
export interface SelectorFields {
  readonly vendor?: string;
  readonly deviceID?: string;
  readonly driver?: string;
  readonly netFilter?: string;
  readonly rootDevices?: readonly string[];
  readonly pfNames?: readonly string[];
  readonly macAddresses?: readonly string[];
}

/** What a nicSelector can look at. Properties that are absent are unknown. */
export interface SelectableNic {
  readonly pciAddress?: string;
  readonly name?: string;
  readonly altNames?: readonly string[];
  readonly mac?: string;
  readonly vendor?: string;
  readonly deviceID?: string;
  readonly driver?: string;
  readonly netFilter?: string;
}

/**
 * Returns "spec.nicSelector names no port: all 4 ports of vendor 8086 are selected" for a selector without pfNames,
 * rootDevices, macAddresses and netFilter. The API server removes a list without a value before any rule sees it, so
 * only the number of ports shows that a name is missing. Undefined if the selector names ports, or selects at most one.
 */
export function describeBroadSelector(selector: SelectorFields, portCount: number): string | undefined {
  const { vendor, deviceID, driver, netFilter } = selector;
  if (portCount < 2 || netFilter || namingLists.some((list) => (selector[list] ?? []).length > 0)) return undefined;
  const properties = [
    ...(vendor ? [`vendor ${vendor}`] : []),
    ...(deviceID ? [`device ID ${deviceID}`] : []),
    ...(driver ? [`driver ${driver}`] : []),
  ];
  if (properties.length === 0) return undefined; // an empty selector matches nothing
  return `spec.nicSelector names no port: all ${portCount} ports of ${properties.join(" and ")} are selected`;
}

/** An entry of pfNames, rootDevices or macAddresses that matches no NIC. */
export interface IdleEntry<Nic> {
  /** "spec.nicSelector.pfNames[1]". */
  readonly field: string;
  readonly value: string;
  /** The NIC that comes nearest to the selector with only this entry; looked for only for the first entries. */
  readonly nearest: NearestNic<Nic> | undefined;
}

/**
 * Returns the entries that match none of `nics` together with the other fields. Empty for a selector that matches nothing
 * at all, which is reported as a whole. `matches` also counts a NIC whose properties are not all known.
 */
export function idleEntries<Selector extends SelectorFields, Nic extends SelectableNic>(
  selector: Selector,
  nics: readonly Nic[],
  matches: (selector: Selector, nic: Nic) => boolean,
): readonly IdleEntry<Nic>[] {
  if (!namingLists.some((list) => (selector[list] ?? []).length > 1)) return [];
  if (!nics.some((nic) => matches(selector, nic))) return [];
  let count = 0;
  return namingLists.flatMap((list) => {
    const entries = selector[list] ?? [];
    return entries.flatMap((value, index) => {
      const alone = { ...selector, [list]: [value] };
      if (entries.length < 2 || nics.some((nic) => matches(alone, nic))) return [];
      count += 1;
      const nearest = count > maxNearest ? undefined : nearestNic(alone, nics);
      return [{ field: `spec.nicSelector.${list}[${index}]`, value, nearest }];
    });
  });
}

/**
 * Returns for example `"uplink1" is not a NIC on any of 3 nodes`, and which NIC comes nearest. `nodes` are the names of the
 * nodes that have reported their NICs.
 */
export function describeIdleEntry<Nic extends SelectableNic>(
  { value, nearest }: IdleEntry<Nic>,
  nodes: readonly string[],
): string {
  const where = nodes.length === 1 ? nodes.join() : `any of ${nodes.length} nodes`;
  const text = `${JSON.stringify(value.slice(0, maxNameLength))} is not a NIC on ${where}`;
  return nearest === undefined ? text : `${text}; nearest match: ${describeNearest(nearest)}`;
}

/** A NIC that does not match a selector, and why. */
export interface NearestNic<Nic> {
  readonly nic: Nic;
  /** One clause for each field that does not match, such as "vendor is 8086, not 15b3". */
  readonly differences: readonly string[];
}

/**
 * Returns the NIC that differs from the selector in the fewest fields; among equal ones, the first whose name is like one
 * of pfNames. Undefined if there are no NICs, or one matches, or none has anything in common with the selector.
 */
export function nearestNic<Nic extends SelectableNic>(
  selector: SelectorFields,
  nics: Iterable<Nic>,
): NearestNic<Nic> | undefined {
  let best: { readonly nic: Nic; readonly different: readonly FieldCheck[] }[] = [];
  let fewest = Infinity;
  for (const nic of nics) {
    const different = checksOf(selector, nic).filter(({ isDifferent }) => isDifferent);
    if (different.length === 0) return undefined;
    if (different.length > fewest) continue;
    if (different.length < fewest) [best, fewest] = [[], different.length];
    if (best.length < maxCompared) best.push({ nic, different });
  }
  const nearest = withSimilarName(selector, best) ?? (fewest < fieldCount(selector) ? best[0] : undefined);
  return nearest && { nic: nearest.nic, differences: nearest.different.map(({ describe }) => describe()) };
}

/** Returns "ens3f0np0 (0000:5e:00.0): the address is not in rootDevices 0000:af:00.0". */
export function describeNearest<Nic extends SelectableNic>({ nic, differences }: NearestNic<Nic>): string {
  const name = shown(nic.name ?? "unnamed");
  const { pciAddress } = nic;
  return `${pciAddress === undefined ? name : `${name} (${pciAddress})`}: ${differences.join("; ")}`;
}

const namingLists = ["pfNames", "rootDevices", "macAddresses"] as const;

/** Entries for which the nearest NIC is looked for. Among many that match nothing, the first ones show the mistake. */
const maxNearest = 4;

/** Comparing names takes time: more NICs than a node has are not compared. */
const maxCompared = 256;

/** A node can write any text into its status. Real names need less. */
const maxNameLength = 64;

/** Entries of a list that are shown. */
const maxListed = 4;

function fieldCount(selector: SelectorFields): number {
  const { vendor, deviceID, driver, netFilter, rootDevices, pfNames, macAddresses } = selector;
  const values = [vendor, deviceID, driver, netFilter, rootDevices, pfNames, macAddresses];
  return values.filter((value) => value !== undefined && value.length > 0).length;
}

/** Whether a NIC differs from one field of a selector, and how: "vendor is 8086, not 15b3". */
interface FieldCheck {
  readonly isDifferent: boolean;
  readonly describe: () => string;
}

function checksOf(selector: SelectorFields, nic: SelectableNic): readonly FieldCheck[] {
  const { vendor, deviceID, driver, netFilter, rootDevices = [], pfNames = [], macAddresses = [] } = selector;
  const same = (field: string, wanted: string | undefined, actual: string | undefined): FieldCheck => ({
    isDifferent: Boolean(wanted) && wanted !== actual,
    describe: () => `${field} is ${shown(actual)}, not ${wanted ?? ""}`,
  });
  return [
    same("vendor", vendor, nic.vendor),
    same("deviceID", deviceID, nic.deviceID),
    same("driver", driver, nic.driver),
    {
      isDifferent: rootDevices.length > 0 && !rootDevices.includes(nic.pciAddress ?? ""),
      describe: () => `the address is not in rootDevices ${listed(rootDevices, ", ")}`,
    },
    {
      isDifferent: pfNames.length > 0 && !pfNames.some((name) => isNameOf(pfNameOf(name), nic)),
      describe: () => `the name is ${shown(nic.name)}, not ${listed(pfNames.map(pfNameOf), " or ")}`,
    },
    {
      isDifferent: macAddresses.length > 0 && !macAddresses.some((mac) => mac.toLowerCase() === nic.mac?.toLowerCase()),
      describe: () => `the MAC address is ${shown(nic.mac)}, not ${listed(macAddresses, " or ")}`,
    },
    {
      isDifferent: Boolean(netFilter) && !sameNetFilter(netFilter ?? "", nic.netFilter ?? ""),
      describe: () => `netFilter is ${shown(nic.netFilter)}, not ${netFilter ?? ""}`,
    },
  ];
}

/** A text that a node has written. */
function shown(text = "unknown"): string {
  return text.slice(0, maxNameLength);
}

function listed(values: readonly string[], separator: string): string {
  const more = values.length - maxListed;
  const first = values.slice(0, maxListed).join(separator);
  return more > 0 ? `${first} and ${more} more` : first;
}

/** The NIC whose name is most like one of pfNames; undefined if none is like it. */
function withSimilarName<Ranked extends { readonly nic: SelectableNic }>(
  { pfNames = [] }: SelectorFields,
  ranked: readonly Ranked[],
): Ranked | undefined {
  const byName = new Map<string, Ranked>();
  for (const one of ranked) for (const name of namesOf(one.nic)) byName.set(name, byName.get(name) ?? one);
  const similar = pfNames.slice(0, maxListed).flatMap((entry) => nearestName(pfNameOf(entry), byName.keys()) ?? []);
  return similar.map((name) => byName.get(name)).find((one) => one !== undefined);
}

function namesOf({ name, altNames = [] }: SelectableNic): readonly string[] {
  return [...(name ? [name] : []), ...altNames];
}
