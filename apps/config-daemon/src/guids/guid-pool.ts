// SPDX-License-Identifier: Apache-2.0
/**
 * Parses /etc/sriov-operator/infiniband/guids, in which an administrator assigns GUIDs to the VFs of InfiniBand PFs
 * (sriov-operator.md F.7, M-24). It is a JSON list with one entry for each PF:
 * `{"pciAddress": "0000:3b:00.0", "guids": ["02:00:00:00:00:00:00:01"]}` or
 * `{"pfGuid": "0c:42:a1:03:00:16:05:4c", "guidsRange": {"start": "02:…:01", "end": "02:…:08"}}`, and in the spelling of the Go
 * operator's design document pci_address, pf_guid, rangeStart and rangeEnd. VF n gets the GUID with index n.
 */
import {
  err,
  ok,
  parseGuid,
  parsePciAddress,
  parseLimitedJson,
  type Guid,
  type PciAddress,
  type Result,
} from "@switchyard/api";
import { isRecord } from "@switchyard/kube";

export interface GuidPool {
  readonly entries: readonly GuidEntry[];
  readonly problems: readonly GuidPoolProblem[];
}

interface GuidEntry extends PfName {
  /** "entry 2". */
  readonly place: string;
  /** In the order of VFs. A list of GUIDs has a range for each of them. */
  readonly ranges: readonly GuidRange[];
}

/** How an entry names its PF. */
interface PfName {
  readonly pciAddress?: PciAddress;
  readonly pfGuid?: Guid;
}

/** Both ends included. */
interface GuidRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** A part of the file that is wrong. Without a PF it can concern any PF. */
export interface GuidPoolProblem {
  readonly pf?: PfName;
  /** "entry 2: guids[0]: "x" is not a GUID". */
  readonly message: string;
}

/** Never throws. Entries with a problem are left out, so that the others can be used. */
export function parseGuidPool(text: string): GuidPool {
  const list = parseList(text);
  if (!list.ok) return { entries: [], problems: [{ message: list.error }] };
  const entries: GuidEntry[] = [];
  const problems: GuidPoolProblem[] = [];
  for (const [index, value] of list.value.entries()) {
    const place = `entry ${index + 1}`;
    const entry = parseEntry(value, place);
    if (entry.ok) entries.push(entry.value);
    else problems.push({ ...entry.error, message: `${place}: ${entry.error.message}` });
  }
  return { entries, problems: [...problems, ...repeatedPfs(entries), ...repeatedGuids(entries)] };
}

/**
 * Returns the GUID of the VF; undefined if the file has no entry for the PF, or fewer GUIDs than the PF has VFs. Returns all
 * problems of entries that can mean the PF, because a GUID that is not the administrator's would have other rights in the
 * fabric.
 */
export function findGuid(
  { entries, problems }: GuidPool,
  vf: { readonly pciAddress: PciAddress; readonly pfGuid: string; readonly vfId: number },
): Result<Guid | undefined, string> {
  const names = ({ pciAddress, pfGuid }: PfName) => pciAddress === vf.pciAddress || pfGuid === vf.pfGuid;
  const relevant = problems.filter(({ pf }) => pf === undefined || names(pf));
  const [entry, second] = entries.filter(names);
  const messages = relevant.map(({ message }) => message);
  if (entry !== undefined && second !== undefined && messages.length === 0) {
    messages.push(`${entry.place} and ${second.place} are for the same PF, ${vf.pciAddress}`);
  }
  if (messages.length > 0) return err(summary(messages));
  return ok(entry && guidAt(entry.ranges, BigInt(vf.vfId)));
}

const maxMessages = 3;

function summary(messages: readonly string[]): string {
  const more = messages.length - maxMessages;
  return messages.slice(0, maxMessages).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function guidAt(ranges: readonly GuidRange[], index: bigint): Guid | undefined {
  let before = 0n;
  for (const { first, last } of ranges) {
    const size = last - first + 1n;
    if (index < before + size) return formatGuid(first + index - before);
    before += size;
  }
  return undefined;
}

function parseList(text: string): Result<readonly unknown[], string> {
  try {
    const value = parseLimitedJson(text);
    return Array.isArray(value) ? ok(value) : err("it is not a list of PFs");
  } catch (error) {
    return err(`invalid JSON: ${error instanceof SyntaxError ? error.message : String(error)}`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function parseEntry(value: unknown, place: string): Result<GuidEntry, GuidPoolProblem> {
  if (!isRecord(value)) return err({ message: "is not an object" });
  const pf = parsePf(value);
  if (!pf.ok) return err({ message: pf.error });
  const ranges = parseRanges(value);
  return ranges.ok ? ok({ ...pf.value, place, ranges: ranges.value }) : err({ pf: pf.value, message: ranges.error });
}

function parsePf(entry: Fields): Result<PfName, string> {
  const given = present(entry, ["pciAddress", "pci_address", "pfGuid", "pf_guid"]);
  const [field, second] = given;
  if (field === undefined) return err("has neither pciAddress nor pfGuid");
  if (second !== undefined) return err(`has both ${field} and ${second}; only one is allowed`);
  const text = entry[field];
  if (typeof text !== "string") return err(`${field}: ${show(text)} is not a text`);
  if (field === "pfGuid" || field === "pf_guid") {
    const pfGuid = parseGuid(text);
    return pfGuid.ok ? ok({ pfGuid: pfGuid.value }) : err(`${field}: ${show(text)} is not a GUID`);
  }
  const pciAddress = parsePciAddress(text.toLowerCase());
  return pciAddress.ok ? ok({ pciAddress: pciAddress.value }) : err(`${field}: ${show(text)} is not a PCI address`);
}

function parseRanges(entry: Fields): Result<readonly GuidRange[], string> {
  const ends = present(entry, ["rangeStart", "rangeEnd"]);
  const forms = [...present(entry, ["guids", "guidsRange"]), ...(ends.length > 0 ? ["rangeStart"] : [])];
  const [form, second] = forms;
  if (form === undefined) return err("has neither guids nor guidsRange");
  if (second !== undefined) return err(`has both ${form} and ${second}; only one is allowed`);
  if (form === "guids") return parseGuids(entry["guids"]);
  if (form === "rangeStart") return parseRange(entry["rangeStart"], entry["rangeEnd"], ["rangeStart", "rangeEnd"]);
  const range = entry["guidsRange"];
  if (!isRecord(range)) return err(`guidsRange: ${show(range)} is not an object`);
  return parseRange(range["start"], range["end"], ["guidsRange.start", "guidsRange.end"]);
}

function parseGuids(list: unknown): Result<readonly GuidRange[], string> {
  if (!Array.isArray(list)) return err(`guids: ${show(list)} is not a list`);
  const ranges: GuidRange[] = [];
  for (const [index, text] of list.entries()) {
    const guid = parseNumber(text);
    if (guid === undefined) return err(`guids[${index}]: ${show(text)} is not a GUID`);
    ranges.push({ first: guid, last: guid });
  }
  return ok(ranges);
}

function parseRange(
  start: unknown,
  end: unknown,
  [startField, endField]: readonly [string, string],
): Result<readonly GuidRange[], string> {
  const [first, last] = [parseNumber(start), parseNumber(end)];
  if (first === undefined) return err(`${startField}: ${show(start)} is not a GUID`);
  if (last === undefined) return err(`${endField}: ${show(end)} is not a GUID`);
  if (first > last) return err(`${endField}: ${show(end)} is below ${startField}`);
  return ok([{ first, last }]);
}

function repeatedPfs(entries: readonly GuidEntry[]): readonly GuidPoolProblem[] {
  const seen = new Map<string, GuidEntry>();
  return entries.flatMap((entry): readonly GuidPoolProblem[] => {
    const { pciAddress, pfGuid, place } = entry;
    const name = pciAddress ?? pfGuid ?? "";
    const earlier = seen.get(name);
    if (earlier === undefined) seen.set(name, entry);
    return earlier === undefined ? [] : [{ pf: entry, message: `${place}: ${name} is also in ${earlier.place}` }];
  });
}

/** Returns a problem for both entries of a GUID, because two devices with the same GUID disturb the fabric. */
function repeatedGuids(entries: readonly GuidEntry[]): readonly GuidPoolProblem[] {
  const all = entries.flatMap((entry) => entry.ranges.map((range) => ({ ...range, entry })));
  all.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const problems: GuidPoolProblem[] = [];
  let highest = all[0];
  for (const range of all.slice(1)) {
    if (highest !== undefined && range.first <= highest.last) {
      const where = highest.entry === range.entry ? "twice in" : `in ${highest.entry.place} and`;
      const message = `${formatGuid(range.first) ?? ""} is ${where} ${range.entry.place}`;
      for (const pf of new Set([highest.entry, range.entry])) problems.push({ pf, message });
    }
    if (highest === undefined || range.last > highest.last) highest = range;
  }
  return problems;
}

function parseNumber(value: unknown): bigint | undefined {
  const guid = parseGuid(typeof value === "string" ? value : "");
  return guid.ok ? BigInt(`0x${guid.value.replaceAll(":", "")}`) : undefined;
}

function formatGuid(value: bigint): Guid | undefined {
  const digits = value.toString(16).padStart(16, "0");
  const guid = parseGuid((digits.match(/../g) ?? []).join(":"));
  return guid.ok ? guid.value : undefined;
}

function present(object: Fields, keys: readonly string[]): readonly string[] {
  return keys.filter((key) => object[key] !== undefined && object[key] !== null && object[key] !== "");
}

/** Returns the value on one line, and at most 64 characters of it. */
function show(value: unknown): string {
  return value === undefined ? "undefined" : JSON.stringify(value).slice(0, 64);
}
