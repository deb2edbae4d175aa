// SPDX-License-Identifier: Apache-2.0
/**
 * adopt annotates the objects of a release of upstream's chart so that Helm keeps them when the release is upgraded to
 * Switchyard's chart. It changes an object only if Helm installed it with this release, and then only one annotation.
 *
 * With `includeConfig` it also lets the release own a SriovOperatorConfig that someone has created by hand. Helm refuses to
 * install over an object that it does not own. It checks this before its hooks run, so this is for administrators.
 */
import { labels, operatorConfigName, sriovOperatorConfigs, type ResourceType } from "@switchyard/api";
import { isKubeError, patchMetadata, type KubeObject, type MetadataChanges, type ObjectName } from "@switchyard/kube";
import { componentInventory } from "@switchyard/render";
import { readObject, type CommandDeps } from "../command.ts";

export interface AdoptOptions {
  /** Name of the Helm release. */
  readonly release: string;
  /** Namespace of the release, which is the operator's. */
  readonly namespace: string;
  readonly includeConfig?: boolean;
  /** Only print what would be done. */
  readonly isDryRun?: boolean;
}

/** Name of the config daemon's service account and its roles, which upstream's chart contains and Switchyard's operator deploys. */
const daemonAccount = "sriov-network-config-daemon";

const accountKinds: readonly string[] = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];

interface UpstreamObject extends ObjectName {
  readonly type: ResourceType;
}

const helm = {
  policy: "helm.sh/resource-policy",
  release: "meta.helm.sh/release-name",
  namespace: "meta.helm.sh/release-namespace",
  managedBy: labels.managedBy,
} as const;

/** Resolves with whether each object is as it must be. An object that the API server refuses does not stop the others. */
export async function adopt(deps: CommandDeps, options: AdoptOptions): Promise<boolean> {
  let isComplete = true;
  for (const object of upstreamObjects(options.namespace)) {
    try {
      deps.print(`${nameOf(object)}: ${await adoptObject(deps, object, options)}`);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      deps.fail(`${nameOf(object)}: ${error.message}`);
      isComplete = false;
    }
  }
  return isComplete;
}

/** Resolves with what was done, in a few words. */
async function adoptObject(deps: CommandDeps, item: UpstreamObject, options: AdoptOptions): Promise<string> {
  const live = await readObject(deps, item.type, item);
  if (live === undefined) return "does not exist";
  if (live.metadata.deletionTimestamp !== undefined) return "not changed; it is being deleted";
  const { annotations = {} } = live.metadata;
  const owner = annotations[helm.release];
  const isConfig = item.type.kind === sriovOperatorConfigs.kind && item.name === operatorConfigName;
  if (isConfig && options.includeConfig === true && owner === undefined) {
    const ownership = { [helm.release]: options.release, [helm.namespace]: options.namespace, [helm.policy]: "keep" };
    const result = await patch(deps, live, {
      item,
      options,
      annotations: ownership,
      labels: { [helm.managedBy]: "Helm" },
    });
    return `${result}: release ${options.release} owns it, and Helm keeps it`;
  }
  if (owner === undefined) return "not changed; Helm has not installed it, so Helm does not delete it";
  const isOfRelease = owner === options.release && annotations[helm.namespace] === options.namespace;
  if (!isOfRelease)
    return `not changed; it belongs to release "${owner}" in namespace "${annotations[helm.namespace] ?? ""}"`;
  if (annotations[helm.policy] === "keep") return "unchanged; Helm keeps it";
  // The label managed-by does not matter here: the operator may have replaced it after a rollback, and Helm would delete the
  // object all the same.
  const result = await patch(deps, live, { item, options, annotations: { [helm.policy]: "keep" } });
  return `${result}: Helm keeps it`;
}

interface Patch {
  readonly item: UpstreamObject;
  readonly options: AdoptOptions;
  readonly annotations: MetadataChanges;
  readonly labels?: MetadataChanges;
}

async function patch(
  { transport, limit }: CommandDeps,
  live: KubeObject,
  { item, options, ...changes }: Patch,
): Promise<string> {
  if (options.isDryRun === true) return "would be annotated";
  await limit.retry((signal) => patchMetadata({ transport, type: item.type, object: live, ...changes, signal }));
  return "annotated";
}

function nameOf({ type, name }: UpstreamObject): string {
  return `${type.kind} ${name}`;
}

/**
 * upstreamObjects lists the objects of a release of upstream's chart that Switchyard's chart does not contain and that must stay
 * when Helm upgrades the release. Helm deletes objects that are only in the last manifest, unless the object has the annotation
 * helm.sh/resource-policy: keep. The service account: with another UID, tokens of running pods answer 401 for up to an hour. The
 * SriovOperatorConfig: without it, all components and node states are deleted.
 */
function upstreamObjects(namespace: string): readonly UpstreamObject[] {
  const account = componentInventory({ namespace }).filter(({ component, type, name }) => {
    return component === "config-daemon" && name === daemonAccount && accountKinds.includes(type.kind);
  });
  return [...account, { type: sriovOperatorConfigs, name: operatorConfigName, namespace }];
}
