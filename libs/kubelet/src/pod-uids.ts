// SPDX-License-Identifier: Apache-2.0
/**
 * createPodUids finds the uids of the pods that have devices. The kubelet's API for pod resources has names only, and the next pod of a
 * StatefulSet has the name of the last one. The kubelet writes uids to its files (pkg/kubelet/cm, 1.30 to 1.36):
 *
 *     device-plugins/kubelet_internal_checkpoint      the pod that each device of a device plugin was given to
 *     dra_manager_state                               the pods that each ResourceClaim was prepared for, and its devices
 *
 * A uid counts only if the pod with this uid has the name that the API says: the kubelet has a directory for the logs of each pod,
 * NAMESPACE_NAME_UID. What is not certain has no uid. The kubelet writes the first file shortly after its API shows a device, so a look
 * in between can find the pod before; the next look is right.
 */
import { isErrno } from "@switchyard/service";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { addressIn, type DeviceHolder } from "./read-devices.ts";
import { identityOf } from "./watch-sockets.ts";

export interface PodUidsOptions {
  /** Directory of the kubelet: /var/lib/kubelet. */
  readonly kubeletDirectory: string;
  /** Directory of the logs of pods: /var/log/pods, unless the setting podLogsDir of the kubelet says otherwise. */
  readonly logDirectory: string;
}

/** The holders of devices by the id of the device. */
export type HoldersById = ReadonlyMap<string, readonly DeviceHolder[]>;

export interface PodUids {
  /**
   * Returns the holders with the uids that are certain. Adds holders of claimed devices that the kubelet's API does not list, as kubelets
   * without the feature gate KubeletPodResourcesDynamicResources do. The name of such a pod is "" if it is not known.
   */
  addTo(holders: HoldersById): Promise<HoldersById>;
}

/** As large as an answer of the kubelet can be (grpc.ts). */
const maxBytes = 16 << 20;

export function createPodUids({ kubeletDirectory, logDirectory }: PodUidsOptions): PodUids {
  const plugins = createFile(join(kubeletDirectory, "device-plugins/kubelet_internal_checkpoint"), parsePluginDevices);
  const claims = createFile(join(kubeletDirectory, "dra_manager_state"), parseClaimedDevices);

  const hasPod = (pod: Pick<DeviceHolder, "namespace" | "name">, uid: string): Promise<boolean> =>
    isName(pod.namespace) && isName(pod.name) && isUid(uid)
      ? exists(join(logDirectory, `${pod.namespace}_${pod.name}_${uid}`))
      : Promise.resolve(false);

  async function uidOf(holder: DeviceHolder, candidates: ReadonlySet<string>): Promise<string | undefined> {
    const found: string[] = [];
    for (const uid of candidates) if (await hasPod(holder, uid)) found.push(uid);
    return found.length === 1 ? found[0] : undefined;
  }

  return {
    async addTo(holders) {
      const [given, prepared] = [await plugins.read(), await claims.read()];
      const result = new Map<string, readonly DeviceHolder[]>();
      for (const [id, list] of holders) {
        const withUids = list.map(async (holder): Promise<DeviceHolder> => {
          const devices = holder.via === "dra" ? prepared : given;
          const uid = await uidOf(holder, devices.get(keyOf(holder.resource, id))?.uids ?? new Set());
          return uid === undefined ? holder : { ...holder, uid };
        });
        result.set(id, await Promise.all(withUids));
      }
      const unlisted = [...prepared.values()].filter(({ id }) => !holders.has(id));
      if (unlisted.length === 0) return result;
      const pods = await podsByUid(logDirectory);
      for (const { id, resource, namespace, uids } of unlisted) {
        const found = [...uids].map((uid): DeviceHolder => {
          const pod = pods.get(uid) ?? { namespace, name: "" };
          return { ...pod, via: "dra", resource, uid };
        });
        result.set(id, [...(result.get(id) ?? []), ...found]);
      }
      return result;
    },
  };
}

/** A device of a resource or of the driver of a claim, and the pods that it was given to. */
interface GivenDevice {
  readonly id: string;
  readonly resource: string;
  /** Namespace of the pods; "" if the file does not say it. */
  readonly namespace: string;
  readonly uids: ReadonlySet<string>;
}

/** By keyOf(). */
type GivenDevices = ReadonlyMap<string, GivenDevice>;

function keyOf(resource: string, id: string): string {
  return `${resource} ${id}`;
}

/**
 * Returns a file that is read again when it is another one, which the kubelet replaces as a whole. A file that is missing, too large or
 * of another form says nothing.
 */
function createFile(path: string, parse: (content: unknown) => GivenDevices) {
  let last: { readonly identity: string | undefined; readonly devices: GivenDevices } | undefined;
  return {
    async read(): Promise<GivenDevices> {
      const identity = await identityOrNone(path);
      if (last?.identity === identity && last !== undefined) return last.devices;
      const devices = parse(await readJson(path));
      last = { identity, devices };
      return devices;
    },
  };
}

async function readJson(path: string): Promise<unknown> {
  try {
    return (await stat(path)).size > maxBytes ? undefined : (JSON.parse(await readFile(path, "utf8")) as unknown);
  } catch (error) {
    if (isErrno(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `{ "Data": { "PodDeviceEntries": [{ "PodUID": "", "ResourceName": "", "DeviceIDs": { "0": [""] } }] } }` */
function parsePluginDevices(content: unknown): GivenDevices {
  const found = createGiven();
  for (const entry of listIn(at(at(content, "Data"), "PodDeviceEntries"))) {
    const [uid, resource] = [at(entry, "PodUID"), at(entry, "ResourceName")];
    const ids = at(entry, "DeviceIDs");
    if (typeof resource !== "string" || !isFields(ids)) continue;
    for (const id of Object.values(ids).flatMap(listIn)) found.add({ id, resource, namespace: "" }, uid);
  }
  return found.devices;
}

/**
 * `{ "Data": "…" }` with another JSON text, `{ "Entries": [{ "Namespace": "", "PodUIDs": { "": {} }, "DriverState": { "": { "Devices":
 * [{ "DeviceName": "" }] } } }] }`; up to Kubernetes 1.31, `entries` at the top.
 */
function parseClaimedDevices(content: unknown): GivenDevices {
  const found = createGiven();
  const data = parseJson(at(content, "Data"));
  for (const entry of listIn(at(data, "Entries") ?? at(content, "entries"))) {
    const [namespace, uids, drivers] = ["Namespace", "PodUIDs", "DriverState"].map((name) => at(entry, name));
    if (!isFields(uids) || !isFields(drivers)) continue;
    for (const [resource, state] of Object.entries(drivers)) {
      for (const device of listIn(at(state, "Devices"))) {
        const name = at(device, "DeviceName");
        const id = typeof name === "string" ? addressIn(name) : undefined;
        const given = { id, resource, namespace: typeof namespace === "string" ? namespace : "" };
        for (const uid of Object.keys(uids)) found.add(given, uid);
      }
    }
  }
  return found.devices;
}

function createGiven() {
  const devices = new Map<string, GivenDevice & { readonly uids: Set<string> }>();
  return {
    devices,
    add({ id, resource, namespace }: Omit<GivenDevice, "id" | "uids"> & { readonly id: unknown }, uid: unknown): void {
      if (typeof id !== "string" || typeof uid !== "string" || !isUid(uid)) return;
      const key = keyOf(resource, id);
      const device = devices.get(key) ?? { id, resource, namespace, uids: new Set<string>() };
      devices.set(key, device);
      device.uids.add(uid);
    },
  };
}

/** Returns the pods that have a directory for their logs. */
async function podsByUid(directory: string) {
  const pods = new Map<string, Pick<DeviceHolder, "namespace" | "name">>();
  try {
    for (const entry of await readdir(directory)) {
      const [namespace = "", name = "", uid = "", ...rest] = entry.split("_");
      if (rest.length === 0 && isName(namespace) && isName(name) && isUid(uid)) pods.set(uid, { namespace, name });
    }
  } catch (error) {
    if (!isErrno(error)) throw error;
  }
  return pods;
}

/** A name of Kubernetes, which is safe in a path. */
function isName(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(text) && !text.includes("..");
}

/** That of a static pod has no dashes. */
function isUid(text: string): boolean {
  return /^[0-9A-Fa-f-]{1,36}$/.test(text);
}

async function exists(path: string): Promise<boolean> {
  return (await identityOrNone(path)) !== undefined;
}

/** A file that cannot be looked at, such as one whose name is too long, says nothing. */
async function identityOrNone(path: string): Promise<string | undefined> {
  try {
    return await identityOf(path);
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}

function at(value: unknown, name: string): unknown {
  return isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: unknown): unknown {
  try {
    return typeof text === "string" ? (JSON.parse(text) as unknown) : undefined;
  } catch {
    return undefined;
  }
}
