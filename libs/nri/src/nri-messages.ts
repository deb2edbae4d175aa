// SPDX-License-Identifier: Apache-2.0
/**
 * The messages of NRI (Node Resource Interface) that a plugin for pods needs: github.com/containerd/nri 0.12.0, pkg/api/api.proto. Fields
 * that are not used are not read.
 */
import { MessageWriter, type MessageReader } from "@switchyard/kubelet";
import { NriError } from "./nri-error.ts";
import { decoding } from "./wire/ttrpc.ts";

export const runtimeService = "nri.pkg.api.v1alpha1.Runtime";
export const pluginService = "nri.pkg.api.v1alpha1.Plugin";

/** A pod sandbox, in the words of the container runtime. No text was checked. */
export interface PodSandbox {
  readonly id: string;
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly annotations: ReadonlyMap<string, string>;
  /** Path of the network namespace on the host; absent for a pod in the network of the host. */
  readonly networkNamespace?: string;
}

/** The runtime that the plugin is connected to. No text was checked. */
export interface RuntimeInfo {
  /** "containerd". */
  readonly name: string;
  readonly version: string;
  /** Version of NRI; "" if the runtime does not say (before NRI 0.10). */
  readonly nriVersion: string;
  /** Time in which the plugin has to answer a request, in ms; 0 if the runtime does not say. */
  readonly requestTimeoutMs: number;
}

/** Numbers of enum Event. */
export const podEvents = { runPodSandbox: 1, stopPodSandbox: 2, removePodSandbox: 3 } as const;

/** Bit n of a subscription is event n + 1. */
const subscription = Object.values(podEvents).reduce((mask, event) => mask | (1 << (event - 1)), 0);

export interface Registration {
  /** Characters of [a-zA-Z0-9_.+-]. */
  readonly name: string;
  /** Two digits. The runtime calls its plugins in this order. */
  readonly index: string;
}

export function encodeRegistration({ name, index }: Registration): Buffer {
  return new MessageWriter().text(1, name).text(2, index).finish();
}

/** Throws NriError MALFORMED_PAYLOAD, as all functions that decode. */
export function decodeConfigure(bytes: Buffer): RuntimeInfo {
  return decoding(bytes, ({ text, number }) => ({
    name: text(2),
    version: text(3),
    requestTimeoutMs: number(5),
    nriVersion: text(6),
  }));
}

/** Subscribes to the events of pods, and to no others. */
export function encodeConfigureAnswer(): Buffer {
  return new MessageWriter().number(2, subscription).finish();
}

export interface SynchronizePart {
  readonly pods: readonly PodSandbox[];
  /** Whether another part follows. */
  readonly more: boolean;
}

export function decodeSynchronize(bytes: Buffer): SynchronizePart {
  return decoding(bytes, ({ messages, number }) => ({ pods: messages(1).map(readPod), more: number(3) !== 0 }));
}

export function encodeSynchronizeAnswer({ more }: Pick<SynchronizePart, "more">): Buffer {
  return new MessageWriter().boolean(2, more).finish();
}

/** Decodes the requests RunPodSandbox, StopPodSandbox and RemovePodSandbox, which have the same fields. */
export function decodePodRequest(bytes: Buffer): PodSandbox {
  return decoding(bytes, ({ messages }) => {
    const pod = messages(1).at(-1);
    if (pod === undefined) throw new NriError("MALFORMED_PAYLOAD", "the container runtime has sent an event of no pod");
    return readPod(pod);
  });
}

export interface StateChange {
  /** A number of enum Event. */
  readonly event: number;
  /** Absent for an event that concerns no pod. */
  readonly pod?: PodSandbox;
}

export function decodeStateChange(bytes: Buffer): StateChange {
  return decoding(bytes, ({ number, messages }) => {
    const pod = messages(2).at(-1);
    return { event: number(1), ...(pod !== undefined && { pod: readPod(pod) }) };
  });
}

function readPod({ text, messages }: MessageReader): PodSandbox {
  const annotations = new Map(messages(6).map((entry) => [entry.text(1), entry.text(2)]));
  const namespaces = messages(8).at(-1)?.messages(5) ?? [];
  const networkNamespace = namespaces.find((namespace) => namespace.text(1) === "network")?.text(2) ?? "";
  return {
    ...{ id: text(1), name: text(2), uid: text(3), namespace: text(4), annotations },
    ...(networkNamespace !== "" && { networkNamespace }),
  };
}
