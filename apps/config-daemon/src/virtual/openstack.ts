// SPDX-License-Identifier: Apache-2.0
/**
 * readOpenstackNetworks reads the networks of an OpenStack instance from its config drive or, without one, from the metadata
 * service (sriov-operator.md F.3).
 */
import { parseMacAddress, parsePciAddress, parseLimitedJson, type MacAddress, type PciAddress } from "@switchyard/api";
import { fetchText, MetadataError } from "./fetch-text.ts";

/** A network card of a virtual machine, as its cloud describes it. */
export interface CloudNic {
  readonly mac: MacAddress;
  /** "openstack/NetworkID:2e40d2a3-…". */
  readonly netFilter: string;
  /** Address that the cloud reports; the address in the machine can differ. */
  readonly pciAddress?: PciAddress;
}

export interface OpenstackSource {
  /** Reads a file of the config drive; undefined if there is none. */
  readonly readDrive: (path: string) => Promise<string | undefined>;
  /** URL of the metadata service without a path. */
  readonly baseUrl: string;
  readonly timeoutMs: number;
}

const directory = "openstack/2018-08-27";

/** Rejects with MetadataError, and with errors of readDrive. */
export async function readOpenstackNetworks({
  readDrive,
  baseUrl,
  timeoutMs,
}: OpenstackSource): Promise<readonly CloudNic[]> {
  const read = async (name: string): Promise<unknown> => {
    const path = `${directory}/${name}`;
    const onDrive = await readDrive(path);
    if (onDrive !== undefined) return parseJson(onDrive, `${path} on the config drive`);
    const url = `${baseUrl}/${path}`;
    return parseJson(await fetchText(url, { timeoutMs }), `GET ${url}`);
  };
  return cloudNicsOf(await read("meta_data.json"), await read("network_data.json"));
}

/**
 * Connects the links of network_data.json with the networks that use them, and with the PCI addresses of meta_data.json.
 * Entries that are incomplete are left out. Throws MetadataError if there are no lists at all.
 */
export function cloudNicsOf(metaData: unknown, networkData: unknown): readonly CloudNic[] {
  const links = listOf(networkData, "links");
  const networks = listOf(networkData, "networks");
  if (links === undefined || networks === undefined) {
    throw new MetadataError("network_data.json has no lists links and networks");
  }
  const addresses = new Map<string, PciAddress>();
  for (const device of listOf(metaData, "devices") ?? []) {
    const mac = parseMacAddress(textOf(device, "mac"));
    const address = parsePciAddress(textOf(device, "address"));
    if (mac.ok && address.ok) addresses.set(mac.value, address.value);
  }
  return links.flatMap((link): readonly CloudNic[] => {
    const mac = parseMacAddress(textOf(link, "ethernet_mac_address"));
    const network = networks.find((each) => textOf(each, "link") === textOf(link, "id"));
    const networkId = textOf(network, "network_id");
    if (!mac.ok || !/^[\w-]{1,64}$/.test(networkId)) return [];
    const pciAddress = addresses.get(mac.value);
    const nic = { mac: mac.value, netFilter: `openstack/NetworkID:${networkId}` };
    return [pciAddress === undefined ? nic : { ...nic, pciAddress }];
  });
}

function parseJson(text: string, where: string): unknown {
  try {
    const value = parseLimitedJson(text);
    return value;
  } catch (cause) {
    throw new MetadataError(`${where}: the answer is not JSON: ${JSON.stringify(text.slice(0, 40))}`, { cause });
  }
}

function listOf(object: unknown, key: string): readonly unknown[] | undefined {
  if (typeof object !== "object" || object === null) return undefined;
  const value: unknown = Reflect.get(object, key);
  return Array.isArray(value) ? value : undefined;
}

function textOf(object: unknown, key: string): string {
  if (typeof object !== "object" || object === null) return "";
  const value: unknown = Reflect.get(object, key);
  return typeof value === "string" ? value : "";
}
