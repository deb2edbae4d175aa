// SPDX-License-Identifier: Apache-2.0
/**
 * readLeftovers finds what Switchyard has left in a cluster that the Go operator manages again, and leftoversScript writes the
 * commands that remove it. It only reads the cluster: the output is a script for a shell, to be read first.
 */
import { operatorConfigName, sriovOperatorConfigs, type ResourceType } from "@switchyard/api";
import { collectionPath, connect, isKubeError, objectPath, type Transport } from "@switchyard/kube";
import { componentKinds } from "@switchyard/render";
import { kubeconfigOf, type ClusterSource } from "../input/read-cluster.ts";
import { at, listAt, stringsAt } from "../json.ts";
import { CliError } from "../terminal.ts";

/** "delete": no program of the Go operator uses the object. "release": Helm keeps it, because of an annotation of Switchyard's chart. */
export interface Leftover {
  readonly action: "delete" | "release";
  /** As kubectl takes it: "lease/switchyard-operator". */
  readonly object: string;
  readonly namespaced: boolean;
  readonly about: string;
}

interface Candidate extends Omit<Leftover, "object" | "namespaced"> {
  readonly type: ResourceType;
  readonly name: string;
}

const keepAnnotation = "helm.sh/resource-policy";
const deployments: ResourceType = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};
const leases: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};
const { ServiceAccount, Role, RoleBinding, ClusterRole, ClusterRoleBinding } = componentKinds;
const { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } = componentKinds;
const limits = [
  "switchyard-own-node",
  "switchyard-own-node-state",
  "switchyard-own-afxdp-node-state",
  "switchyard-own-resource-slices",
];
const daemon = "sriov-network-config-daemon";

const ownRole = "the Go operator has ClusterRoles for it";

/** Bindings come before their policies and roles, which they would miss. */
const candidates: readonly Candidate[] = [
  ...[ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicy].flatMap((type) =>
    limits.map((name) => ({
      ...{ action: "delete" as const, type, name },
      about: "limits a daemon to objects of its own node; the Go operator's daemons work under it, too",
    })),
  ),
  { action: "delete", type: leases, name: "switchyard-operator", about: "of Switchyard's leader election" },
  ...[ClusterRoleBinding, ClusterRole].map((type) => ({
    ...{ action: "delete" as const, type, name: "sriov-device-plugin" },
    about: "lets the pods of the device plugin read ResourceSlices; the Go operator's pods do not",
  })),
  ...["operator-webhook", "network-resources-injector"].flatMap((name) => [
    { action: "delete" as const, type: RoleBinding, name: `${name}-role-binding`, about: ownRole },
    { action: "delete" as const, type: Role, name, about: ownRole },
  ]),
  ...[ServiceAccount, Role, RoleBinding, ClusterRole, ClusterRoleBinding].map((type) => ({
    ...{ action: "release" as const, type, name: daemon },
    about: "Helm keeps it when the release is uninstalled",
  })),
  {
    ...{ action: "release", type: sriovOperatorConfigs, name: operatorConfigName },
    about: "Helm keeps it when the release is uninstalled",
  },
];

/** Throws CliError "unavailable" if the cluster cannot be read, or if Switchyard's operator still runs in the namespace. */
export async function readLeftovers(source: ClusterSource): Promise<readonly Leftover[]> {
  const { namespace, context, env } = source;
  try {
    await using transport = await connect({ kubeconfig: kubeconfigOf(source), context, env, usesProxyVariables: true });
    await refuseWhileManaged(transport, namespace);
    const found: Leftover[] = [];
    for (const { type, name, action, about } of candidates) {
      const object = await readIfThere(transport, type, { name, namespace });
      const isKept = stringsAt(object, "metadata", "annotations")[keepAnnotation] === "keep";
      if (object === undefined || (action === "release" && !isKept)) continue;
      const kind = type.group === "" ? type.plural : `${type.plural}.${type.group}`;
      found.push({ action, object: `${kind}/${name}`, namespaced: type.namespaced, about });
    }
    return found;
  } catch (cause) {
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  }
}

async function refuseWhileManaged(transport: Transport, namespace: string): Promise<void> {
  const path = collectionPath(deployments, namespace);
  const query = { labelSelector: "app.kubernetes.io/name=switchyard,app.kubernetes.io/component=operator" };
  const answer = await transport.request({ method: "GET", path, query });
  const running = listAt(answer, "items").find((item) => at(item, "spec", "replicas") !== 0);
  if (running === undefined) return;
  const name = String(at(running, "metadata", "name"));
  throw new CliError(
    "unavailable",
    `Deployment ${namespace}/${name} is Switchyard's operator, which needs these objects: go back first`,
  );
}

async function readIfThere(
  transport: Transport,
  type: ResourceType,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<unknown> {
  try {
    const path = objectPath(type, type.namespaced ? { name, namespace } : { name });
    return await transport.request({ method: "GET", path });
  } catch (error) {
    if (isKubeError(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Returns one command for each object, with comments; a comment alone if nothing is left. */
export function leftoversScript(
  leftovers: readonly Leftover[],
  { namespace, context, kubeconfig }: Pick<ClusterSource, "namespace" | "context" | "kubeconfig">,
): string {
  if (leftovers.length === 0) return `# nothing of Switchyard is left in namespace ${quoted(namespace)}\n`;
  const cluster = [
    ...(context === undefined ? [] : ["--context", quoted(context)]),
    ...(kubeconfig === undefined ? [] : ["--kubeconfig", quoted(kubeconfig)]),
  ];
  const lines = leftovers.flatMap(({ action, object, namespaced, about }) => {
    const place = namespaced ? [...cluster, "-n", quoted(namespace)] : cluster;
    const verb = action === "delete" ? ["delete", object] : ["annotate", object, `${keepAnnotation}-`];
    return [`# ${object}: ${about}`, ["kubectl", ...place, ...verb].join(" ")];
  });
  return `${lines.join("\n")}\n`;
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
