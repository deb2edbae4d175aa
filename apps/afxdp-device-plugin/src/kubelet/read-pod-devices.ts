// SPDX-License-Identifier: Apache-2.0
/** readPodDevices asks the kubelet which pods of the node have devices. The functions below search its answer. */
import { callGrpc, listPodResourcesMethod, type ContainerDevices, type PodDevices } from "@switchyard/kubelet";
import { hasDevice, type DeviceId } from "../pools/device.ts";

const timeoutMs = 10_000;

/** `path` is kubelet/pod-resources/kubelet.sock. Rejects with a ServiceError of gRPC. */
export function readPodDevices(path: string, signal: AbortSignal): Promise<readonly PodDevices[]> {
  return callGrpc(listPodResourcesMethod, {}, { path, timeoutMs, signal });
}

/** The kubelet answers 100 calls per second, of all programs of the node together (kubelet/apis/podresources, 1.36). */
const sharedMs = 250;

/**
 * Returns a function that asks at most four times a second and once at a time, whoever calls it how often. All callers get the answer
 * to a question that is asked after their call, and those that come while the next question waits share it. An error is shared, too.
 */
export function shareAnswers<Answer>(
  ask: () => Promise<Answer>,
  { nowMs, wait }: { readonly nowMs: () => number; readonly wait: (ms: number) => Promise<void> },
): () => Promise<Answer> {
  let askedMs = -Infinity;
  let ended: Promise<unknown> = Promise.resolve();
  let next: Promise<Answer> | undefined;

  async function askInTurn(): Promise<Answer> {
    await ended;
    const leftMs = askedMs + sharedMs - nowMs();
    if (leftMs > 0) await wait(leftMs);
    next = undefined;
    askedMs = nowMs();
    const answer = ask();
    ended = answer.catch(() => undefined);
    return answer;
  }

  return () => (next ??= askInTurn());
}

/** Returns the ids of all devices of the resource that pods have. */
export function heldDevices(pods: readonly PodDevices[], resourceName: string): ReadonlySet<string> {
  return new Set(pods.flatMap(({ containers }) => containers.flatMap((one) => devicesOf(one, resourceName))));
}

/**
 * Returns the ids of the devices of the container in which a program runs: it says the name of its pod and has the socket of
 * `device`. The program knows no namespace, so the device decides which of several pods with this name it is. Undefined if no pod
 * with this name has the device.
 */
export function devicesOfCaller(
  pods: readonly PodDevices[],
  caller: { readonly podName: string; readonly device: DeviceId; readonly resourceName: string },
): { readonly namespace: string; readonly name: string; readonly devices: readonly string[] } | undefined {
  for (const { name, namespace, containers } of pods) {
    if (!isNamed(name, caller.podName)) continue;
    const lists = containers.map((container) => devicesOf(container, caller.resourceName));
    // Containers can share a device: an init container leaves its devices to the containers after it.
    const devices = new Set(lists.filter((list) => hasDevice(new Set(list), caller.device)).flat());
    if (devices.size > 0) return { namespace, name, devices: [...devices] };
  }
  return undefined;
}

function devicesOf({ devices }: ContainerDevices, resourceName: string): readonly string[] {
  return devices.flatMap((list) => (list.resourceName === resourceName ? list.ids : []));
}

/** Longest host name, to which the kubelet shortens the names of pods. */
const maxHostname = 63;
/** Longest name that DPDK can send: 64 bytes without "/connect," and the NUL. */
const maxSent = 54;

/** Programs say their host name, which is the beginning of the pod's name if it is too long. */
function isNamed(podName: string, said: string): boolean {
  if (podName === said) return true;
  const isCut = said.length === maxSent || said.length === maxHostname || said.length === maxSent + 1;
  // The kubelet removes "-" and "." from the end of a host name that it has shortened.
  const hostname = podName.slice(0, maxHostname).replace(/[-.]+$/, "");
  return said === hostname || (isCut && podName.startsWith(said));
}
