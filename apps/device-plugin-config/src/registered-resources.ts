// SPDX-License-Identifier: Apache-2.0
/**
 * createRegistration says which resources no device plugin has registered at the kubelet. The kubelet writes what is registered to its
 * checkpoint at each change (pkg/kubelet/cm/devicemanager/checkpoint, 1.36). To read this file needs no gRPC, which costs memory on each
 * node.
 */
import { parseLimitedJson } from "@switchyard/api";
import { isErrno } from "@switchyard/service";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** What is missing at the kubelet. */
export interface Unregistered {
  /** Full names of the resources that have no device at the kubelet; empty if all have. */
  readonly resources: readonly string[];
  /** Whether no kubelet has its socket in the directory. */
  readonly isKubeletAbsent: boolean;
}

/** Returns undefined if it is not known: the directory is not mounted, or the file is another one than expected. */
export type ReadUnregistered = (resources: readonly string[]) => Promise<Unregistered | undefined>;

/** `kubeletDirectory` is /var/lib/kubelet in the container, whatever the directory of the node is. */
export function createRegistration(kubeletDirectory: string): ReadUnregistered {
  const directory = join(kubeletDirectory, "device-plugins");
  return async (resources) => {
    if (resources.length === 0 || !(await exists(directory))) return undefined;
    if (!(await exists(join(directory, "kubelet.sock")))) return { resources, isKubeletAbsent: true };
    const registered = await readRegistered(join(directory, "kubelet_internal_checkpoint"));
    if (registered === undefined) return undefined;
    const missing = resources.filter((resource) => (registered.get(resource) ?? 0) === 0);
    return { resources: missing, isKubeletAbsent: false };
  };
}

/** Returns the number of devices by the name of the resource. A kubelet without any device plugin has no file. */
async function readRegistered(path: string): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const content = parseLimitedJson(await readFile(path, "utf8"));
    const data = isFields(content) ? content["Data"] : undefined;
    const registered = isFields(data) ? (data["RegisteredDevices"] ?? {}) : undefined;
    if (!isFields(registered)) return undefined;
    return new Map(Object.entries(registered).map(([name, ids]) => [name, Array.isArray(ids) ? ids.length : 0]));
  } catch (error) {
    if (isErrno(error, "ENOENT")) return new Map();
    if (isErrno(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isErrno(error)) return false;
    throw error;
  }
}
