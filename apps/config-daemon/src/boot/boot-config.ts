// SPDX-License-Identifier: Apache-2.0
/**
 * formatBootConfig and parseBootConfig write and read the file from which a node is configured while it boots, without an
 * API server. The file has the format of the Go operator: YAML whose keys below `spec` are field names in lower case
 * (sriov-operator.md F.7). It is written as JSON, which is YAML, so reading it needs no YAML parser.
 * Usage: `const config = await parseBootConfig(formatBootConfig({ spec, maxPfs: 4 }));`
 */
import { createHash } from "node:crypto";
import { bootFileHeader, defined, err, ok, type Result, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { defaultOvsdbAddress, ovsdbAddress } from "../start/ovsdb-address.ts";
import { fromUpstreamFields, toUpstreamFields } from "./spec-fields.ts";

/** What the boot phases need in addition to the host. */
export interface BootConfig {
  readonly spec: SriovNetworkNodeStateSpec;
  /** PFs that are configured in parallel. */
  readonly maxPfs?: number | undefined;
  /** Address of the database of Open vSwitch. If absent, software bridges are not managed. */
  readonly ovsdbAddress?: string | undefined;
}

/** A config that was read. */
export interface ParsedBootConfig extends BootConfig {
  /** Parts of the spec that are not valid and are left out, one sentence each. */
  readonly problems: readonly string[];
}

/** Returns the same text for the same config. */
export function formatBootConfig({ spec, maxPfs, ovsdbAddress: address }: BootConfig): string {
  const fields = {
    spec: toUpstreamFields(spec),
    // Only the Go operator's program reads these two.
    ...{ unsupportedNics: true, platformType: 0 },
    ...{
      manageSoftwareBridges: address !== undefined,
      ovsdbSocketPath: upstreamAddress(address ?? defaultOvsdbAddress),
    },
    ...defined({ maxPfs }),
  };
  return `${bootFileHeader}\n${JSON.stringify(fields, undefined, 2)}\n`;
}

/** The Go operator's program needs the scheme. */
function upstreamAddress(address: string): string {
  return address.startsWith("/") ? `unix://${address}` : address;
}

/** Identifies the content of a file. Two texts of one config have different digests. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Reads the file of this program or of the Go operator. Returns why it cannot be read at all. */
export async function parseBootConfig(text: string): Promise<Result<ParsedBootConfig, string>> {
  const read = parseJson(text) ?? (await parseYaml(text));
  if (!read.ok) return read;
  const fields = read.value;
  if (!isRecord(fields)) return err("the file is not a YAML mapping");
  const { spec, problems } = fromUpstreamFields(fields["spec"]);
  const { maxPfs, manageSoftwareBridges, ovsdbSocketPath } = fields;
  return ok({
    spec,
    problems,
    maxPfs: typeof maxPfs === "number" && Number.isInteger(maxPfs) && maxPfs >= 1 && maxPfs <= 64 ? maxPfs : undefined,
    ovsdbAddress:
      manageSoftwareBridges === true && typeof ovsdbSocketPath === "string"
        ? ovsdbAddress.parse(ovsdbSocketPath)
        : undefined,
  });
}

function parseJson(text: string): Result<unknown, string> | undefined {
  try {
    return ok(JSON.parse(text.replace(/^(?:#[^\n]*\n)+/, "")));
  } catch {
    return undefined;
  }
}

/** The parser is loaded only for a file that is not JSON. */
async function parseYaml(text: string): Promise<Result<unknown, string>> {
  const { parse } = await import("yaml");
  try {
    // Limits aliases, which can make a small file large. As JSON, so that there are no maps with other keys than texts.
    return ok(JSON.parse(JSON.stringify(parse(text, { logLevel: "error", maxAliasCount: 100 }) ?? {})));
  } catch (error) {
    return err(`the file is not valid YAML${placeOf(error)}`);
  }
}

function placeOf(error: unknown): string {
  const places = isRecord(error) ? error["linePos"] : undefined;
  const place: unknown = Array.isArray(places) ? places[0] : undefined;
  return isRecord(place) ? ` at line ${String(place["line"])}, column ${String(place["col"])}` : "";
}
