// SPDX-License-Identifier: Apache-2.0
/**
 * formatBootConfig and parseBootConfig write and read the file from which a node is configured while it boots, without an
 * API server. The file has the format of the Go operator: YAML whose keys below `spec` are field names in lower case
 * (sriov-operator.md F.7). It is written as JSON, which is YAML, so reading it needs no YAML parser.
 */
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import {
  bootFileHeader,
  defined,
  err,
  ok,
  parsePciAddress,
  parseLimitedJson,
  type Result,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { isTexts } from "../files/json-file.ts";
import type { HostUseByPf } from "../observe/host-use.ts";
import { defaultOvsdbAddress, ovsdbAddress } from "../start/ovsdb-address.ts";
import { fromUpstreamFields, toUpstreamFields } from "./spec-fields.ts";

/** What the boot phases need in addition to the host. */
export interface BootConfig {
  readonly spec: SriovNetworkNodeStateSpec;
  /** PFs that are configured in parallel. */
  readonly maxPfs?: number | undefined;
  /** Address of the database of Open vSwitch. If absent, software bridges are not managed. */
  readonly ovsdbAddress?: string | undefined;
  /** What the host used PFs for when the file was written: the routes may not exist yet when a phase runs. */
  readonly hostUse?: HostUseByPf;
  /** IP addresses of the API server, so that a phase does not disconnect the node from it. */
  readonly apiServerAddresses?: readonly string[];
}

/** A config that was read. */
export interface ParsedBootConfig extends BootConfig {
  readonly hostUse: HostUseByPf;
  readonly apiServerAddresses: readonly string[];
  /** Parts of the file that are not valid and are left out, one sentence each. */
  readonly problems: readonly string[];
}

/** Returns the same text for the same config. */
export function formatBootConfig(config: BootConfig): string {
  const { spec, maxPfs, ovsdbAddress: address, hostUse = {}, apiServerAddresses = [] } = config;
  const fields = {
    spec: toUpstreamFields(spec),
    // Only the Go operator's program reads these two.
    unsupportedNics: true,
    platformType: 0,
    manageSoftwareBridges: address !== undefined,
    ovsdbSocketPath: upstreamAddress(address ?? defaultOvsdbAddress),
    ...defined({
      maxPfs,
      hostUse: Object.keys(hostUse).length === 0 ? undefined : hostUse,
      apiServerAddresses: apiServerAddresses.length === 0 ? undefined : apiServerAddresses,
    }),
  };
  return textOf(fields);
}

function textOf(fields: object): string {
  return `${bootFileHeader}\n${JSON.stringify(fields, undefined, 2)}\n`;
}

/** The Go operator's program needs the scheme. */
function upstreamAddress(address: string): string {
  return address.startsWith("/") ? `unix://${address}` : address;
}

/**
 * Identifies what a file asks for. Two texts of one config have different digests. What the file says about the host does not
 * count: a node must not reboot because a route has changed.
 */
export function digestOf(text: string): string {
  const read = parseJson(text);
  const fields = read?.ok === true && isRecord(read.value) ? read.value : undefined;
  const { hostUse, apiServerAddresses, ...asked } = fields ?? {};
  const isAboutHost = hostUse !== undefined || apiServerAddresses !== undefined;
  const counted = isAboutHost ? textOf(asked) : text;
  return createHash("sha256").update(counted).digest("hex").slice(0, 16);
}

/** Reads the file of this program or of the Go operator. Returns why it cannot be read at all. */
export async function parseBootConfig(text: string): Promise<Result<ParsedBootConfig, string>> {
  const read = parseJson(text) ?? (await parseYaml(text));
  if (!read.ok) return read;
  const fields = read.value;
  if (!isRecord(fields)) return err("the file is not a YAML mapping");
  const { spec, problems } = fromUpstreamFields(fields["spec"]);
  const { maxPfs, manageSoftwareBridges, ovsdbSocketPath } = fields;
  const facts = readHostNetworkFields(fields);
  return ok({
    spec,
    hostUse: facts.hostUse,
    apiServerAddresses: facts.apiServerAddresses,
    problems: [...problems, ...facts.problems],
    maxPfs: typeof maxPfs === "number" && Number.isInteger(maxPfs) && maxPfs >= 1 && maxPfs <= 64 ? maxPfs : undefined,
    ovsdbAddress:
      manageSoftwareBridges === true && typeof ovsdbSocketPath === "string"
        ? ovsdbAddress.parse(ovsdbSocketPath)
        : undefined,
  });
}

/** Most PFs have no use, or one or two. The file of the Go operator has none of these fields. */
function readHostNetworkFields({ hostUse = {}, apiServerAddresses = [] }: Readonly<Record<string, unknown>>) {
  const problems: string[] = [];
  const uses: [string, readonly string[]][] = [];
  for (const [pciAddress, texts] of isRecord(hostUse) ? Object.entries(hostUse) : []) {
    if (parsePciAddress(pciAddress).ok && isTexts(texts)) uses.push([pciAddress, texts]);
    else problems.push(`hostUse[${JSON.stringify(pciAddress)}] is not a list of texts for a PCI address`);
  }
  if (!isRecord(hostUse)) problems.push("hostUse is not a mapping");
  const areAddresses = isTexts(apiServerAddresses) && apiServerAddresses.every((each) => isIP(each) !== 0);
  if (!areAddresses) problems.push("apiServerAddresses is not a list of IP addresses");
  return { hostUse: Object.fromEntries(uses), apiServerAddresses: areAddresses ? apiServerAddresses : [], problems };
}

function parseJson(text: string): Result<unknown, string> | undefined {
  try {
    return ok(parseLimitedJson(text.replace(/^(?:#[^\n]*\n)+/, "")));
  } catch {
    return undefined;
  }
}

/** The parser is loaded only for a file that is not JSON. */
async function parseYaml(text: string): Promise<Result<unknown, string>> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  try {
    // An error that quotes its line takes time in proportion to the line, and there can be an error for each character.
    const document = parseDocument(text, { logLevel: "error", prettyErrors: false, lineCounter });
    const [mistake] = document.errors;
    if (mistake !== undefined) {
      const { line, col } = lineCounter.linePos(mistake.pos[0]);
      return err(`the file is not valid YAML at line ${line}, column ${col}`);
    }
    // Limits aliases, which can make a small file large. As JSON, so that there are no maps with other keys than texts.
    return ok(JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? {})));
  } catch {
    return err("the file is not valid YAML"); // too many levels, or too many aliases
  }
}
