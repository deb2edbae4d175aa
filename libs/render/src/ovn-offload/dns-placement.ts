// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps the pods of OpenShift's DNS off the hosts of SmartNICs, where they cannot get an interface (smartnic.md 6). A nodeSelector
 * cannot exclude nodes, so all other nodes get a label, which is added to the nodeSelector of the DNS operator. What was there
 * before is in an annotation, and is restored when no host is left. Tolerations are never changed.
 * Usage: `const wish = dnsPlacement(dns, nodes); if (wish.state === "change") await patch(wish.patch);`
 */
import { labels, parseLimitedJson, type Node, type Taint } from "@switchyard/api";
import { hasLabels, labelsOf } from "@switchyard/policy";

/** On Nodes that are no hosts of SmartNICs: pods of DNS can run there. */
export const dnsEligibleLabel = "switchyard.io/dns-eligible";

/** On the DNS object: `{ nodeSelector? }` of its nodePlacement before ovn-offload changed it, as JSON; "null" if it had none. */
export const dnsPlacementBefore = "switchyard.io/dns-placement-before";

/** A DNS of operator.openshift.io, restricted to the fields that are used. */
export interface DnsPlacementSource {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly managementState?: string;
    readonly nodePlacement?: {
      readonly nodeSelector?: Readonly<Record<string, string>>;
      readonly tolerations?: readonly DnsToleration[];
    };
  };
}

/** core/v1 Toleration, restricted to the fields that are used. */
export interface DnsToleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/**
 * unchanged: it is as it should be. unmanaged: the DNS operator does nothing, and neither does Switchyard. no-node: the
 * nodeSelector would match no schedulable node, so it stays as it is.
 */
export type DnsPlacement =
  { readonly state: "unchanged" | "unmanaged" | "no-node" } | { readonly state: "change"; readonly patch: DnsPatch };

/** A JSON merge patch of the DNS object. */
export interface DnsPatch {
  readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> };
  readonly spec: {
    readonly nodePlacement: { readonly nodeSelector: Readonly<Record<string, string | null>> | null } | null;
  };
}

type Selector = Readonly<Record<string, string>>;

/** What the DNS operator uses if nodeSelector is empty. A nodeSelector replaces it. */
const defaultSelector: Selector = { "kubernetes.io/os": "linux" };

/** What the DNS operator uses if tolerations are empty. */
const defaultTolerations: readonly DnsToleration[] = [{ key: "node-role.kubernetes.io/master", operator: "Exists" }];

/** Reports whether the node must have dnsEligibleLabel: it is not, and will not be, the host of a SmartNIC. */
export function isDnsEligible(node: Node): boolean {
  return !Object.hasOwn(labelsOf(node), labels.ovnOffloadPool);
}

/** Adds dnsEligibleLabel to the nodeSelector. The nodes must have the label before. */
export function dnsPlacement(dns: DnsPlacementSource, nodes: readonly Node[]): DnsPlacement {
  if (dns.spec?.managementState === "Unmanaged") return { state: "unmanaged" };
  const placement = dns.spec?.nodePlacement;
  const present = placement?.nodeSelector;
  if (present?.[dnsEligibleLabel] === "") return { state: "unchanged" };
  const wanted = withEligible(present);
  const tolerations = placement?.tolerations ?? [];
  const effective = tolerations.length > 0 ? tolerations : defaultTolerations;
  if (!nodes.some((node) => isSchedulable(node, wanted, effective))) return { state: "no-node" };
  const before = JSON.stringify(placement === undefined ? null : { nodeSelector: present });
  return change({ [dnsPlacementBefore]: before }, { nodeSelector: wanted });
}

/**
 * Restores the nodeSelector. One that was changed meanwhile loses only our label. Without the annotation, nothing is ours.
 */
export function restoredDnsPlacement(dns: DnsPlacementSource): DnsPlacement {
  const text = dns.metadata.annotations?.[dnsPlacementBefore];
  if (text === undefined) return { state: "unchanged" };
  const annotations = { [dnsPlacementBefore]: null };
  const placement = dns.spec?.nodePlacement;
  const present = placement?.nodeSelector ?? {};
  const before = parsePlacement(text);
  if (before === undefined || !isSame(present, withEligible(before.nodeSelector))) {
    return change(annotations, { nodeSelector: { [dnsEligibleLabel]: null } });
  }
  if (before.nodeSelector === undefined) {
    const others = Object.keys(placement ?? {}).filter((field) => field !== "nodeSelector");
    return change(annotations, before.isAbsent && others.length === 0 ? null : { nodeSelector: null });
  }
  // A merge patch cannot empty a map: each key is removed by its name.
  return change(annotations, { nodeSelector: { ...nullsOf(present), ...before.nodeSelector } });
}

function change(annotations: DnsPatch["metadata"]["annotations"], nodePlacement: DnsPatch["spec"]["nodePlacement"]) {
  return { state: "change", patch: { metadata: { annotations }, spec: { nodePlacement } } } as const;
}

function withEligible(selector: Selector | undefined): Selector {
  const base = selector === undefined || Object.keys(selector).length === 0 ? defaultSelector : selector;
  return { ...base, [dnsEligibleLabel]: "" };
}

function nullsOf(selector: Selector): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(selector).map((key) => [key, null]));
}

function isSame(a: Selector, b: Selector): boolean {
  return Object.keys(a).length === Object.keys(b).length && hasLabels(a, b);
}

/** Reads the annotation, which anyone can change. */
function parsePlacement(text: string): { readonly isAbsent: boolean; readonly nodeSelector?: Selector } | undefined {
  try {
    const value = parseLimitedJson(text);
    if (value === null) return { isAbsent: true };
    if (typeof value !== "object") return undefined;
    const nodeSelector = "nodeSelector" in value ? value.nodeSelector : undefined;
    if (nodeSelector === undefined) return { isAbsent: false };
    return isSelector(nodeSelector) ? { isAbsent: false, nodeSelector } : undefined;
  } catch {
    return undefined;
  }
}

function isSelector(value: unknown): value is Selector {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((inner) => typeof inner === "string");
}

function isSchedulable(node: Node, selector: Selector, tolerations: readonly DnsToleration[]): boolean {
  if (node.spec?.unschedulable === true || !isDnsEligible(node)) return false;
  if (!hasLabels({ ...labelsOf(node), [dnsEligibleLabel]: "" }, selector)) return false;
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect !== "PreferNoSchedule");
  return taints.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
}

/** As Kubernetes' scheduler decides it (core/v1 Toleration). */
function tolerates({ key = "", operator = "Equal", value = "", effect = "" }: DnsToleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return key !== "" && operator === "Equal" && value === (taint.value ?? "");
}
