// SPDX-License-Identifier: Apache-2.0
/** PodView is what is known of a pod of `switchyard verify`: its status, the status of its network, its events and its output. */
import { at, isJsonObject, listAt, stringsAt, textAt } from "../json.ts";
import type { InterfaceObservation, Observation, TargetObservation } from "./observation.ts";
import type { PlannedPod } from "./plan-pods.ts";

export interface PodView extends Pick<PlannedPod, "node" | "role"> {
  readonly name: string;
  /** "namespace/name" of the network. */
  readonly network: string;
  readonly isScheduled: boolean;
  /** What the scheduler says about a pod that it has not placed. */
  readonly unscheduled?: string;
  /** What the kubelet says about a pod that it has refused or ended. */
  readonly refusal?: string;
  /** The last answer of the CNI plugins to a pod whose sandbox could not be made, and how often it was given. */
  readonly sandboxError?: { readonly text: string; readonly count: number };
  /** Why the container waits: "ImagePullBackOff: …". */
  readonly waiting?: string;
  readonly hasStarted: boolean;
  readonly hasEnded: boolean;
  /** The network's entry in the status that Multus writes. */
  readonly attachment?: Attachment;
  readonly observations: readonly Observation[];
}

export interface Attachment {
  readonly addresses: readonly string[];
  /** PCI address of the VF. */
  readonly pciAddress?: string;
}

export interface PodSources {
  readonly planned: Pick<PlannedPod, "node" | "role">;
  readonly name: string;
  readonly network: string;
  /** The Pod; undefined if it does not exist any more. */
  readonly pod: unknown;
  /** Its Events. */
  readonly events: readonly unknown[];
  readonly observations: readonly Observation[];
}

const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";

export function readPodView({ planned, name, network, pod, events, observations }: PodSources): PodView {
  const conditions = listAt(pod, "status", "conditions");
  const scheduled = conditions.find((condition) => textAt(condition, "type") === "PodScheduled");
  const isScheduled = textAt(at(pod, "spec"), "nodeName") !== undefined;
  const [container] = listAt(pod, "status", "containerStatuses");
  const hasStarted =
    at(container, "state", "running") !== undefined || at(container, "state", "terminated") !== undefined;
  const phase = textAt(at(pod, "status"), "phase") ?? "Pending";
  const hasEnded = phase === "Succeeded" || phase === "Failed";
  const attachment = attachmentIn(stringsAt(pod, "metadata", "annotations")[statusAnnotation], network);
  return {
    ...planned,
    name,
    network,
    isScheduled,
    hasStarted,
    hasEnded,
    observations,
    ...optional("unscheduled", isScheduled ? undefined : textAt(scheduled, "message")),
    ...optional("refusal", phase === "Failed" ? refusalOf(at(pod, "status"), container) : undefined),
    ...optional("sandboxError", sandboxErrorIn(events)),
    ...optional("waiting", waitingOf(container)),
    ...optional("attachment", attachment),
  };
}

export function interfaceOf({ observations }: PodView): InterfaceObservation | undefined {
  return observations.find((observation) => observation.kind === "interface");
}

/** What the pod says about packets to another one. */
export function targetOf({ observations }: PodView, pod: string): TargetObservation | undefined {
  return observations.find((observation) => observation.kind === "target" && observation.pod === pod) as
    TargetObservation | undefined;
}

/** Whether the pod received beacons of another one. */
export function hears({ observations }: PodView, { name }: Pick<PodView, "name">): boolean {
  return observations.some((observation) => observation.kind === "heard" && observation.pod === name);
}

/** Whether the program has said all that it will say before it is deleted. */
export function isSettled(view: PodView): boolean {
  if (view.hasEnded) return true;
  const kind = view.role === "sends" ? "done" : "interface";
  return view.observations.some((observation) => observation.kind === kind);
}

/** "UnexpectedAdmissionError: Allocate failed …". */
function refusalOf(status: unknown, container: unknown): string {
  const ended = at(container, "state", "terminated");
  const reason = textAt(status, "reason") ?? textAt(ended, "reason") ?? "Failed";
  const message = textAt(status, "message") ?? textAt(ended, "message") ?? "";
  return message === "" ? reason : `${reason}: ${message}`;
}

function waitingOf(container: unknown): string | undefined {
  const waiting = at(container, "state", "waiting");
  const reason = textAt(waiting, "reason");
  if (reason === undefined || reason === "ContainerCreating" || reason === "PodInitializing") return undefined;
  const message = textAt(waiting, "message");
  return message === undefined ? reason : `${reason}: ${message}`;
}

function sandboxErrorIn(events: readonly unknown[]): PodView["sandboxError"] {
  const failed = events.filter((event) => textAt(event, "reason") === "FailedCreatePodSandBox");
  const last = failed.at(-1);
  if (last === undefined) return undefined;
  const counts = failed.map((event) => {
    const count = at(event, "count") ?? at(event, "series", "count");
    return typeof count === "number" ? count : 1;
  });
  return { text: textAt(last, "message") ?? "", count: counts.reduce((sum, count) => sum + count, 0) };
}

function attachmentIn(text: string | undefined, network: string): Attachment | undefined {
  const list = parseJson(text ?? "");
  for (const entry of Array.isArray(list) ? list : []) {
    // Multus writes the name without the namespace in some versions.
    const isNetwork = textAt(entry, "name") === network || network.endsWith(`/${textAt(entry, "name") ?? ""}`);
    if (!isJsonObject(entry) || !isNetwork || at(entry, "default") === true) continue;
    const addresses = listAt(entry, "ips").filter((address) => typeof address === "string");
    const pciAddress = textAt(at(entry, "device-info", "pci"), "pci-address");
    return { addresses, ...optional("pciAddress", pciAddress) };
  }
  return undefined;
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
