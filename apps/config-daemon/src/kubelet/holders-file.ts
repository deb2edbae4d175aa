// SPDX-License-Identifier: Apache-2.0
/**
 * holdersFromFile stands in for the kubelet on a node that has none, such as one of EVE or of a test. Another program writes there which
 * pods or instances have which VFs, and replaces the file as a whole (rename). The file is JSON:
 *
 *     { "holders": [{ "device": "0000:01:10.2", "namespace": "default", "name": "app-0", "resource": "openshift.io/lab" }] }
 *
 * `device` is the PCI address of the VF. `uid` may be added, the uid of the pod. A file that is missing, too large or not of this form says nothing, and then any VF may be held.
 */
import { defined, err, ok, parsePciAddress, parseLimitedJson, type Result } from "@switchyard/api";
import type { DeviceHolder } from "@switchyard/kubelet";
import { isErrno } from "@switchyard/service";
import { readFile, stat } from "node:fs/promises";
import type { Kubelet } from "./kubelet.ts";

/** Of 4,096 VFs with names of usual length. */
const maxBytes = 1_048_576;

const maxHolders = 4_096;

/** No device plugin offers VFs there. The file says nothing about AF_XDP devices. */
export function holdersFromFile(path: string): Kubelet {
  return {
    readAfxdp: () => Promise.resolve(err(`${path} does not say which pods have AF_XDP devices`)),
    async readHolders() {
      const holders = await readHoldersFile(path);
      return holders.ok ? ok({ byId: holders.value, isNewKubelet: false }) : holders;
    },
    readOffered: () => Promise.resolve(ok(new Set<string>())),
  };
}

type Holders = ReadonlyMap<string, readonly DeviceHolder[]>;

async function readHoldersFile(path: string): Promise<Result<Holders, string>> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) return err(`${path} has ${size} bytes, and at most ${maxBytes} are read`);
    return parseHolders(path, await readFile(path, "utf8"));
  } catch (error) {
    if (!isErrno(error)) throw error;
    return err(`${path} cannot be read: ${error.code}`);
  }
}

function parseHolders(path: string, text: string): Result<Holders, string> {
  const file = parseJson(text);
  const entries: unknown = isObject(file) ? file["holders"] : undefined;
  if (!Array.isArray(entries)) return err(`${path} has no list "holders"`);
  if (entries.length > maxHolders)
    return err(`${path} has ${entries.length} holders, and at most ${maxHolders} are read`);
  const byId = new Map<string, DeviceHolder[]>();
  for (const [index, entry] of entries.entries()) {
    const parsed = parseEntry(entry);
    if (parsed === undefined) return err(`${path}: holders[${index}] has no device, namespace, name and resource`);
    byId.set(parsed.device, [...(byId.get(parsed.device) ?? []), parsed.holder]);
  }
  return ok(byId);
}

function parseEntry(entry: unknown): { readonly device: string; readonly holder: DeviceHolder } | undefined {
  if (!isObject(entry)) return undefined;
  const { device, namespace, name, uid, resource } = entry;
  const address = parsePciAddress(typeof device === "string" ? device : "");
  if (!address.ok || typeof namespace !== "string" || typeof name !== "string" || typeof resource !== "string") {
    return undefined;
  }
  if (uid !== undefined && typeof uid !== "string") return undefined;
  return { device: address.value, holder: { namespace, name, ...defined({ uid }), resource, via: "device-plugin" } };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function parseJson(text: string): unknown {
  try {
    return parseLimitedJson(text);
  } catch {
    return undefined;
  }
}
