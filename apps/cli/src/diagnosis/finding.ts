// SPDX-License-Identifier: Apache-2.0
/** Finding is one problem of a cluster, with its evidence, its cause as far as it is known, and the next command to run. */
import { customResources, defined } from "@switchyard/api";
import type { Manifest } from "../json.ts";
import { findingCatalogue, type FindingCode, type Severity } from "./finding-catalogue.ts";
import type { Snapshot } from "./snapshot.ts";

/** The object that a finding is about. */
export interface ObjectRef {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface Finding {
  /** A FindingCode, or the reason of a condition. */
  readonly code: string;
  readonly severity: Severity;
  readonly object: ObjectRef;
  /** Path of the field: "spec.nicSelector.pfNames[0]". */
  readonly field?: string;
  /** What is wrong with this object. */
  readonly message: string;
  /** What the cluster reports: conditions, error messages, events, other objects. One line each. */
  readonly evidence: readonly string[];
  /** Why this happens, in general. */
  readonly cause: string;
  /** The next command to run. */
  readonly next: string;
  /** The finding that explains this one. It ends with it. */
  readonly causedBy?: FindingRef;
}

/** Names a finding. */
export type FindingRef = Pick<Finding, "code" | "object">;

/** What a rule knows about a problem; the catalogue has the rest. */
export interface DetectedProblem {
  readonly object: ObjectRef;
  readonly field?: string | undefined;
  readonly message: string;
  readonly evidence?: readonly string[];
  /** Values for the placeholders of the command in the catalogue, besides {name} and {namespace}. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Makes a finding with the texts of the catalogue. */
export function findingOf(code: FindingCode, observed: DetectedProblem): Finding {
  const { object, field, message, evidence = [], values = {} } = observed;
  const { severity, cause, next } = findingCatalogue[code];
  return {
    code,
    severity,
    object,
    ...defined({ field }),
    message,
    evidence,
    cause,
    next: commandFor(next, object, values),
  };
}

/**
 * Fills the placeholders of a command. Names of objects in files can be anything, so those that a shell could misread are not
 * filled in.
 */
export function commandFor(
  template: string,
  { name, namespace = "" }: ObjectRef,
  values: Readonly<Record<string, string>> = {},
): string {
  const known: Readonly<Record<string, string>> = { name, namespace, ...values };
  // Without the pods of the cluster, the first command finds the pod.
  if (template.includes("{daemonPod}") && known["daemonPod"] === "")
    return commandFor(daemonPodOf, { kind: "", name }, values);
  return template.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
    const value = Object.hasOwn(known, key) ? (known[key] ?? "") : "";
    return /^[\w./-]+$/.test(value) ? value : key.toUpperCase();
  });
}

const daemonPodOf =
  "kubectl -n {operatorNamespace} get pods -o wide -l app=sriov-network-config-daemon --field-selector spec.nodeName={name}";

/**
 * refOf, resourceOf and placesOf name objects in findings and in commands for kubectl.
 * The reference to an object of the input.
 */
export function refOf({ kind, namespace, name }: Pick<Manifest, "kind" | "namespace" | "name">): ObjectRef {
  return namespace === undefined || namespace === "" ? { kind, name } : { kind, namespace, name };
}

/** The name of a kind for kubectl: "sriovnetworknodepolicy". */
export function resourceOf(kind: string): string {
  const own = customResources.find((type) => type.kind === kind);
  return own === undefined ? kind.toLowerCase() : own.kind.toLowerCase();
}

/** Values of placeholders: the operator's namespace, and the pod of the config daemon on a node if it is known. */
export function placesOf(node: string, { namespace, pods }: Snapshot): Readonly<Record<string, string>> {
  const daemon = pods.find((pod) => {
    return pod.namespace === namespace && pod.node === node && pod.labels["app"] === "sriov-network-config-daemon";
  });
  return { operatorNamespace: namespace, daemonPod: daemon?.name ?? "" };
}
