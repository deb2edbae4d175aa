// SPDX-License-Identifier: Apache-2.0
/**
 * A right in one line, such as "patch kube-system:pods/name/status": what the API server answers about it, and the
 * result of the request itself. The default namespace is the operator's, or none for cluster-scoped kinds.
 */
import { collectionPath, isRecord, objectPath, type ResourceType, type Transport } from "@switchyard/kube";
import { namespace as operatorNamespace } from "../../src/operator/identity-objects.ts";

/** A parsed right. `text` is the line from which it was parsed. */
export interface Right {
  readonly text: string;
  readonly verb: string;
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** The resources of each API group, namespaced ones first. */
const groups: readonly (readonly [group: string, namespaced: readonly string[], clusterWide: readonly string[]])[] = [
  ["", ["configmaps", "pods", "secrets", "serviceaccounts"], ["namespaces", "nodes", "users"]],
  ["apps", ["daemonsets", "deployments"], []],
  ["rbac.authorization.k8s.io", ["roles", "rolebindings"], ["clusterroles", "clusterrolebindings"]],
  [
    "admissionregistration.k8s.io",
    [],
    [
      ...["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      ...["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
    ],
  ],
  ["afxdpnetwork.hns.dev", ["afxdpnetworknodepolicies", "afxdpnetworknodestates", "afxdpoperatorconfigs"], []],
  ["apiextensions.k8s.io", [], ["customresourcedefinitions"]],
  ["authentication.k8s.io", [], ["tokenreviews"]],
  ["authorization.k8s.io", [], ["subjectaccessreviews"]],
  ["bpfman.io", [], ["clusterbpfapplications", "clusterbpfapplicationstates"]],
  ["certificates.k8s.io", [], ["certificatesigningrequests"]],
  ["coordination.k8s.io", ["leases"], []],
  ["events.k8s.io", ["events"], []],
  ["k8s.cni.cncf.io", ["network-attachment-definitions"], []],
  ["resource.k8s.io", ["resourceclaims"], ["resourceslices"]],
  [
    "sriovnetwork.openshift.io",
    ["sriovnetworknodepolicies", "sriovnetworknodestates", "sriovnetworks", "sriovoperatorconfigs"],
    [],
  ],
];

/** Groups whose version is v1alpha1; that of the others is v1. */
const alphaGroups: ReadonlySet<string> = new Set(["afxdpnetwork.hns.dev", "bpfman.io"]);

const types: ReadonlyMap<string, ResourceType> = new Map(
  groups.flatMap(([group, namespaced, clusterWide]) =>
    [...namespaced, ...clusterWide].map((plural) => {
      const version = alphaGroups.has(group) ? "v1alpha1" : "v1";
      return [plural, { group, version, kind: plural, plural, namespaced: namespaced.includes(plural) }] as const;
    }),
  ),
);

/** Parses a right. Throws RangeError for an invalid text, so that a typing error does not pass as a refused right. */
export function readRight(text: string): Right {
  const pattern = /^([a-z]+) (?:([\w-]+):)?([a-z-]+)(?:\/([\w.-]+))?(?:\/([a-z]+))?$/;
  const [, verb, other, plural = "", name, subresource] = pattern.exec(text) ?? [];
  const type = types.get(plural);
  if (verb === undefined || type === undefined) throw new RangeError(`not a right: ${text}`);
  return {
    text,
    verb,
    type,
    ...(type.namespaced && { namespace: other ?? operatorNamespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
}

/** Asks the API server whether the client has the right. */
export async function isAllowed(client: Transport, right: Right): Promise<boolean> {
  const { verb, type, namespace, name, subresource } = right;
  const resourceAttributes = { verb, namespace, name, group: type.group, resource: type.plural, subresource };
  const answer = await client.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    },
  });
  return isRecord(answer) && isRecord(answer["status"]) && answer["status"]["allowed"] === true;
}

/** Sends the request with dry run. Returns undefined if no request corresponds to the verb, such as "bind". */
export function attempt(client: Transport, right: Right): Promise<unknown> | undefined {
  const { verb, type, namespace, name, subresource } = right;
  const method = methods.get(verb);
  if (method === undefined) return undefined;
  const path =
    name === undefined
      ? collectionPath(type, namespace)
      : objectPath(type, { name, ...(namespace !== undefined && { namespace }) }, subresource);
  if (method === "GET") return client.request({ method, path });
  const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  return client.request({ method, path, query: { dryRun: "All" }, body: {}, contentType });
}

const methods: ReadonlyMap<string, "GET" | "POST" | "PUT" | "PATCH" | "DELETE"> = new Map([
  ["get", "GET"],
  ["list", "GET"],
  ["create", "POST"],
  ["update", "PUT"],
  ["patch", "PATCH"],
  ["delete", "DELETE"],
]);
