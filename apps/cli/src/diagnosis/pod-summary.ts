// SPDX-License-Identifier: Apache-2.0
/** PodSummary is what findings and the list of VFs depend on in a Pod. */
import { parsePciAddress, parseLimitedJson, type PciAddress } from "@switchyard/api";
import { networksAnnotation, parsePodNetworks, readPodDevices, type PodNetwork } from "@switchyard/policy";
import { at, isJsonObject, listAt, stringsAt, textAt } from "../json.ts";

export interface PodSummary {
  readonly namespace: string;
  readonly name: string;
  /** Undefined before the pod is scheduled. */
  readonly node: string | undefined;
  readonly phase: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Number of devices by full resource name, as the scheduler counts them. */
  readonly requests: ReadonlyMap<string, number>;
  /** The networks of the annotation; undefined if it is malformed. */
  readonly networks: readonly PodNetwork[] | undefined;
  /** PCI addresses in the status that Multus writes. */
  readonly devices: readonly PciAddress[];
  /** Names of ResourceClaims in the pod's namespace. */
  readonly claims: readonly string[];
  /** Containers that do not run although they should, with the kubelet's reason. */
  readonly stoppedContainers: readonly StoppedContainer[];
  /** What the scheduler says about a pod that is not scheduled. */
  readonly unscheduled: string | undefined;
}

/** A container that waits, or that the kernel has killed. */
export interface StoppedContainer {
  readonly name: string;
  /** "CrashLoopBackOff", "ImagePullBackOff"; "OOMKilled" for one that was killed and runs again. */
  readonly reason: string;
  readonly isWaiting: boolean;
  /** The kubelet's message, restarts and the last exit code, on one line. */
  readonly details: string;
}

const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";

/** Reads a Pod, which may be malformed; undefined if it has no name or has ended. */
export function readPodSummary(pod: unknown): PodSummary | undefined {
  const [name, namespace = "default"] = [textAt(at(pod, "metadata"), "name"), textAt(at(pod, "metadata"), "namespace")];
  const phase = textAt(at(pod, "status"), "phase") ?? "Pending";
  if (name === undefined || phase === "Succeeded" || phase === "Failed") return undefined;
  const annotations = stringsAt(pod, "metadata", "annotations");
  const scheduled = listAt(pod, "status", "conditions").find(
    (condition) => textAt(condition, "type") === "PodScheduled" && textAt(condition, "status") === "False",
  );
  return {
    namespace,
    name,
    phase,
    node: textAt(at(pod, "spec"), "nodeName"),
    labels: stringsAt(pod, "metadata", "labels"),
    requests: requestsOf(at(pod, "spec")),
    networks: parsePodNetworks(annotations[networksAnnotation] ?? "", namespace),
    devices: devicesOf(annotations[statusAnnotation]),
    claims: readPodDevices(pod, "").claims,
    stoppedContainers: stoppedContainersOf(pod),
    unscheduled: textAt(scheduled, "message"),
  };
}

/** Waiting for these is normal; with any other reason a container waits for a person. */
const normalWaits: readonly string[] = ["ContainerCreating", "PodInitializing"];

function stoppedContainersOf(pod: unknown): readonly StoppedContainer[] {
  const all = ["initContainerStatuses", "containerStatuses"].flatMap((list) => listAt(pod, "status", list));
  return all.flatMap((container) => {
    const waiting = textAt(at(container, "state", "waiting"), "reason") ?? "";
    const last = at(container, "lastState", "terminated");
    const lastReason = textAt(last, "reason") ?? "";
    const isWaiting = waiting !== "" && !normalWaits.includes(waiting);
    if (!isWaiting && lastReason !== "OOMKilled") return [];
    const [restarts, exitCode] = [at(container, "restartCount"), at(last, "exitCode")];
    const details = [
      textAt(at(container, "state", "waiting"), "message") ?? "",
      typeof restarts === "number" && restarts > 0
        ? restarts === 1
          ? "restarted 1 time"
          : `restarted ${restarts} times`
        : "",
      typeof exitCode === "number" ? `last exit code ${exitCode}${lastReason === "" ? "" : ` (${lastReason})`}` : "",
    ];
    const name = textAt(container, "name") ?? "";
    return [{ name, reason: isWaiting ? waiting : lastReason, isWaiting, details: details.filter(Boolean).join("; ") }];
  });
}

/** As the scheduler counts: the sum of the containers and sidecars, or the most that an init container needs. */
function requestsOf(spec: unknown): ReadonlyMap<string, number> {
  const inits = listAt(spec, "initContainers");
  const isSidecar = (container: unknown): boolean => textAt(container, "restartPolicy") === "Always";
  const total = new Map<string, number>();
  for (const container of [...listAt(spec, "containers"), ...inits.filter(isSidecar)]) {
    for (const [name, count] of requestsIn(container)) total.set(name, (total.get(name) ?? 0) + count);
  }
  for (const container of inits.filter((each) => !isSidecar(each))) {
    for (const [name, count] of requestsIn(container)) total.set(name, Math.max(total.get(name) ?? 0, count));
  }
  return total;
}

function requestsIn(container: unknown): ReadonlyMap<string, number> {
  const { requests, limits } = {
    requests: at(container, "resources", "requests"),
    limits: at(container, "resources", "limits"),
  };
  const entries = [limits, requests].flatMap((list) => (isJsonObject(list) ? Object.entries(list) : []));
  // Extended resources have a slash; cpu and memory are not counted.
  return new Map(entries.filter(([name]) => name.includes("/")).map(([name, quantity]) => [name, countOf(quantity)]));
}

function devicesOf(text: string | undefined): readonly PciAddress[] {
  const list = text === undefined ? undefined : parseJson(text);
  return (Array.isArray(list) ? list : []).flatMap((entry) => {
    const info = at(entry, "device-info");
    const kinds = ["pci", "vdpa", "vhost-user", "memif"];
    return kinds.flatMap((kind) => {
      const address = parsePciAddress(textAt(at(info, kind), "pci-address") ?? "");
      return address.ok ? [address.value] : [];
    });
  });
}

function parseJson(text: string): unknown {
  try {
    return parseLimitedJson(text);
  } catch {
    return undefined;
  }
}

/**
 * countOf reads the quantity of an extended resource, which is a whole number.
 * Returns 0 for everything else, such as quantities of memory.
 */
export function countOf(quantity: unknown): number {
  if (typeof quantity !== "string" && typeof quantity !== "number") return 0;
  const [, digits = "", suffix = ""] = /^(\d{1,15})(k?)$/.exec(`${quantity}`) ?? [];
  return digits === "" ? 0 : Number(digits) * (suffix === "k" ? 1000 : 1);
}
